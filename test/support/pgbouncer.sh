# Keeps a PgBouncer for as long as standard input stays open, as embedded-server.sh keeps a
# PostgreSQL: it goes with its owner, whatever ended that.
# usage: sh -c SCRIPT pgbouncer PROGRAM PARENT
# Prints the folder it made and reads the user list, one line, and the settings, up to an empty one.
# Standard error is PgBouncer's alone, so that its end is that of PgBouncer.
set -u
trap '' INT HUP TERM PIPE
folder=$(mktemp -d "$2/oncely-pgbouncer-XXXXXX") || exit 1
echo "$folder"

if read -r users; then
  printf '%s\n' "$users" >"$folder/users"
  while read -r line && [ -n "$line" ]; do printf '%s\n' "$line"; done >"$folder/ini"
  (cd "$folder" && exec "$1" "$folder/ini") </dev/null >/dev/null &
  exec 2>/dev/null
  cat >/dev/null
  # Which signal waits for clients, and which does not, depends on the version.
  kill -KILL $!
  wait
fi
cd / && rm -rf "$folder"

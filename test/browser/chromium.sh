# Keeps a Chromium for as long as standard input stays open, as pgbouncer.sh keeps a PgBouncer: it
# goes with its owner, whatever ended that, and everything that it has written with it.
# usage: sh -c SCRIPT chromium PROGRAM PARENT ARGUMENT...
# Standard error is Chromium's alone, so that its end is that of Chromium.
set -u
trap '' INT HUP TERM PIPE
program=$1
folder=$(mktemp -d "$2/oncely-chromium-XXXXXX") || exit 1
shift 2

# In a group of its own, which its processes share.
HOME=$folder TMPDIR=$folder XDG_CONFIG_HOME=$folder XDG_CACHE_HOME=$folder \
  setsid "$program" "--user-data-dir=$folder/profile" "$@" </dev/null >/dev/null &
exec 2>/dev/null
cat >/dev/null
kill -KILL "-$!"
wait
# Some of the group may still be about to end.
for _ in 1 2 3 4 5 6 7 8 9 10; do
  cd / && rm -rf "$folder" && break
  sleep 0.2
done

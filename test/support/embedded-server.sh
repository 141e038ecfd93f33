# Starts a throw-away PostgreSQL and keeps it for as long as standard input stays open. The owner
# holds the other end, so the server and its folder go when the owner does, whatever ended it.
# A shell and not node: it must outlive a SIGKILL sent to every node process.
# usage: sh -c SCRIPT embedded-server PARENT SERVER_OPTIONS
# Prints the folder it made, reads two lines, the password and where the binaries are, and prints
# "ready", or why not. Then it takes orders, a line each, and says "done" to each.
set -u
options=$2
trap '' INT HUP TERM PIPE
folder=$(mktemp -d "$1/oncely-postgres-XXXXXX") || exit 1
echo "$folder"

# No descriptor of ours may stay open in the server, or the owner's pipes would never end.
run() {
  "$bin/$@" >>"$folder/log" 2>&1 </dev/null
}

# By md5, as a session is begun thousands of times in a run, and SCRAM is made to take its time.
if read -r password && read -r bin; then
  (umask 077 && printf '%s\n' "$password" >"$folder/password")
  if run initdb -D "$folder/data" --username=postgres --auth=md5 \
    --pwfile="$folder/password" --no-sync --encoding=UTF8 --locale=C.UTF-8 &&
    run pg_ctl -D "$folder/data" -w -t 60 -l "$folder/log" -o "$options" start; then
    echo ready
    while read -r order; do
      case $order in
        crash) run pg_ctl -D "$folder/data" -w -t 60 -m immediate stop ;;
        shutdown) run pg_ctl -D "$folder/data" -w -t 60 -m fast stop ;;
        standby) : >"$folder/data/standby.signal" ;;
        start) run pg_ctl -D "$folder/data" -w -t 60 -l "$folder/log" -o "$options" start ;;
      esac && echo done || echo "$order failed"
    done
    run pg_ctl -D "$folder/data" -w -t 60 -m immediate stop
  else
    grep -E 'error|ERROR|FATAL|could not' "$folder/log" | head -n 1
  fi
fi

# An owner that was killed may have left a copy under way.
cd /
for _ in 1 2 3 4 5; do
  rm -rf "$folder" && break
  sleep 1
done

# Starts a throw-away PostgreSQL and keeps it for as long as standard input stays open. The owner
# holds the other end, so the server and its folder go when the owner does, whatever ended it.
# A shell and not node: it must outlive a SIGKILL sent to every node process.
# usage: sh -c SCRIPT embedded-server FOLDER BIN SERVER_OPTIONS
set -u
folder=$1 bin=$2 options=$3
trap '' INT HUP TERM PIPE

# No descriptor of ours may stay open in the server, or the owner's pipes would never end.
run() {
  "$bin/$@" >>"$folder/log" 2>&1 </dev/null
}

if run initdb -D "$folder/data" --username=postgres --auth=password --pwfile="$folder/password" \
  --no-sync --encoding=UTF8 --locale=C.UTF-8 &&
  run pg_ctl -D "$folder/data" -w -t 60 -l "$folder/log" -o "$options" start; then
  echo ready
  cat >/dev/null
  run pg_ctl -D "$folder/data" -w -t 60 -m immediate stop
else
  tail -n 20 "$folder/log"
fi
cd / && rm -rf "$folder"

# Invariant: once the JVM at the other end of standard input is gone, no process that it told us of lives on.
# Lines: "watch PID SIGNAL DIRECTORY", "forget PID" and "remove - - DIRECTORY". The end of input comes even when the JVM dies of SIGKILL.
trap '' INT TERM HUP
watched=''
while read -r verb pid signal directory; do
  case $verb in
    watch | remove) watched="$watched
$pid $signal $directory" ;;
    forget) watched=$(printf '%s\n' "$watched" | grep -v "^$pid ") ;;
  esac
done
printf '%s\n' "$watched" | while read -r pid signal directory; do
  [ -n "$pid" ] || continue
  if [ "$pid" = - ]; then
    rm -rf "$directory"
    continue
  fi
  kill -s "$signal" "$pid" 2>/dev/null
  kill -s CONT "$pid" 2>/dev/null # a stopped process takes no signal but SIGKILL
  tries=0
  while kill -0 "$pid" 2>/dev/null && [ "$tries" -lt 100 ]; do
    tries=$((tries + 1))
    sleep 0.05
  done
  kill -s KILL "$pid" 2>/dev/null
  rm -rf "$directory"
done

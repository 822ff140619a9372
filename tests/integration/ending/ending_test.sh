#!/usr/bin/env bash
# ending_test.sh: SIGTERM, SIGINT and exit() stop the context: the executors go, the application is unregistered, listeners hear of
# the end, and the process ends with the documented code. PROGRAM and PLUGINS come from CTest.
set -uo pipefail
for name in $(compgen -v TENON_); do unset "$name"; done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/conf"
printf 'tenon.log.level plugin=info\n' >"$work/conf/tenon.conf"
export TENON_CONF_DIR=$work/conf TENON_PLUGIN_PATH=$PLUGINS
failures=0

# ended CODE STATUS: what the program printed and ended with.
ended() {
  local problem=
  [ "$2" -eq "$1" ] || problem="ended with $2 instead of $1"
  grep -qx "application end $1" "$work/out" || problem+="; no 'application end $1'"
  grep -q "several: all executors are gone, unregistered with code $1" "$work/err" || problem+="; not unregistered"
  [ -z "$problem" ] && return
  failures=$((failures + 1))
  printf 'FAILED: %s: %s\n  stdout: %s\n  stderr: %s\n' "$what" "$problem" "$(cat "$work/out")" "$(cat "$work/err")"
}

for signal in TERM:143 INT:130; do
  what=$signal
  mkfifo "$work/lines"
  # A background process of a script ignores SIGINT unless it is set anew.
  env --default-signal=INT "$PROGRAM" wait >"$work/lines" 2>"$work/err" &
  pid=$!
  exec 3<"$work/lines"
  read -r -t 60 first <&3
  kill -"${signal%:*}" $pid
  { echo "$first"; cat <&3; } >"$work/out"
  exec 3<&-
  wait $pid
  status=$?
  grep -qx running "$work/out" || { failures=$((failures + 1)); echo "FAILED: $what: no task ran"; }
  ended "${signal#*:}" $status
  rm "$work/lines"
done

for mode in exit:5 thread:6; do
  what=$mode
  "$PROGRAM" "${mode%:*}" >"$work/out" 2>"$work/err"
  ended "${mode#*:}" $?
done

[ "$failures" -eq 0 ] && echo "every end stops the context"
exit $((failures > 0))

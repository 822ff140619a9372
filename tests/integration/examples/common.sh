# Sourced by the tests of the examples: scratch folder, running a program on two masters, comparing.
set -euo pipefail
build=$(cd "$1" && pwd)
case=$2
scratch=$(mktemp -d)
trap 'chmod -R u+rwx "$scratch"; rm -rf "$scratch"' EXIT
# Nothing of the caller's settings, nor of the conf/ folder of this tree, reaches a program.
for name in $(compgen -v TENON_); do unset "$name"; done
export LC_ALL=C
export TENON_CONF_DIR=$scratch/.conf
mkdir "$TENON_CONF_DIR"
cd "$scratch"
masters=("local[1]" "local[4]")

# first N COMMAND...: the first N bytes of what it prints; the command may go on writing when they are through.
first() {
  local size=$1
  shift
  { "$@" || true; } 2>/dev/null | head -c "$size"
}

# repeat FILE: prints it again and again, while somebody reads.
repeat() {
  while cat "$1"; do :; done
}

fail() {
  echo "FAILED: $*"
  exit 1
}

# run MASTER EXAMPLE ARGS...: sets status, out, err (files).
run() {
  local master=$1 example=$2
  shift 2
  out=$scratch/.stdout err=$scratch/.stderr status=0
  TENON_MASTER=$master "$build/bin/examples/$example" "$@" >"$out" 2>"$err" || status=$?
}

# succeeds EXPECTED_FILE EXAMPLE ARGS...: exit 0, exactly that on stdout and nothing on stderr, on each master.
succeeds() {
  local expected=$1 master
  shift
  for master in "${masters[@]}"; do
    run "$master" "$@"
    [ "$status" -eq 0 ] || fail "$* on $master ended with $status: $(cat "$err")"
    [ ! -s "$err" ] || fail "$* on $master wrote to stderr: $(cat "$err")"
    cmp "$expected" "$out" || fail "$* on $master: expected (<) and printed (>): $(diff "$expected" "$out" | head -20)"
  done
}

# refuses STATUS TEXT EXAMPLE ARGS...: that exit code, the text on stderr, nothing on stdout, on each master.
refuses() {
  local code=$1 text=$2 master
  shift 2
  for master in "${masters[@]}"; do
    run "$master" "$@"
    [ "$status" -eq "$code" ] || fail "$* on $master ended with $status, not $code: $(cat "$err")"
    [ ! -s "$out" ] || fail "$* on $master wrote to stdout: $(cat "$out")"
    grep -qF -- "$text" "$err" || fail "$* on $master: stderr lacks '$text': $(cat "$err")"
  done
}

# same_on_all EXAMPLE ARGS...: exit 0, nothing on stderr, and on all masters the same bytes on stdout, which $out names.
same_on_all() {
  run "${masters[0]}" "$@"
  [ "$status" -eq 0 ] || fail "$* on ${masters[0]} ended with $status: $(cat "$err")"
  cp "$out" "$scratch/.first"
  succeeds "$scratch/.first" "$@"
}

# near EXPECTED ACTUAL: the same lines of words, but for numbers that differ by the rounding of their last digit.
near() {
  paste -d '\n' "$1" "$2" | awk '
    NR % 2 { n = split($0, expected); next }
    {
      bad = split($0, got) != n
      for (i = 1; i <= n && !bad; ++i) {
        fraction = expected[i] ~ /^-?[0-9]+\.[0-9]+$/ && got[i] ~ /^-?[0-9]+\.[0-9]+$/
        bad = fraction ? (expected[i] - got[i]) ^ 2 > 4e-12 : expected[i] "" != got[i] ""
      }
      if (bad) { print "line " NR / 2 ": expected and got:"; for (i in expected) printf "%s ", expected[i]; print ""; print; exit 1 }
    }' || fail "$2 differs from $1"
  [ "$(wc -l <"$1")" -eq "$(wc -l <"$2")" ] || fail "$2 has $(wc -l <"$2") lines, not $(wc -l <"$1")"
}

# The lines of an output folder, after a check that it is complete and holds nothing else.
parts_of() {
  [ -e "$1/_SUCCESS" ] || fail "$1 has no _SUCCESS"
  [ "$(find "$1" -mindepth 1 ! -name 'part-[0-9][0-9][0-9][0-9][0-9]' ! -name _SUCCESS | wc -l)" -eq 0 ] ||
    fail "$1 holds more than parts: $(ls -A "$1")"
  cat "$1"/part-*
}

#!/usr/bin/env bash
# join.sh BUILD_FOLDER CASE: the example against coreutils.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
tab=$'\t'

# compare LEFT RIGHT ARGS...: summary and output against join(1) of these two files.
compare() {
  sort -t "$tab" -k1,1 "$1" >left.sorted
  sort -t "$tab" -k1,1 "$2" >right.sorted
  join -t "$tab" left.sorted right.sorted | sort >joined
  cut -f 1 joined | uniq -c | awk '{ n += $1; if ($1 > most) most = $1 }
    END { printf "rows\t%d\nkeys\t%d\nmost\t%d\n", n, NR, most }' >summary
  shift 2
  succeeds summary join "$@"
  local master
  for master in "${masters[@]}"; do
    rm -rf out
    run "$master" join --output out "$@"
    [ "$status" -eq 0 ] || fail "join $* on $master ended with $status: $(cat "$err")"
    cmp summary "$out"
    parts_of out | sort | cmp - joined || fail "join $* on $master"
  done
}

case $case in
  files)
    printf 'a\t1\nb\t2\nc\t3\na\t4\n' >left
    printf 'c\tx\na\ty\nd\tz\na\tw\n' >right
    compare left right left right
    : >empty
    compare left empty left empty
    compare empty right empty right
    seq 30000 | awk '{ printf "%d\tl%d\n", $1 % 5000, $1 }' >left
    seq 30000 | awk '{ printf "%d\tr%d\n", ($1 * 7) % 9000 + 2500, $1 }' >right
    compare left right left right
    ;;
  generated)
    for n in 0 1 50000; do
      awk -v n="$n" 'BEGIN { for (i = 0; i < int(n / 10) + 1; ++i) printf "customer-%d\tcountry-%d\n", i, i % 7 }' >left
      awk -v n="$n" 'BEGIN { for (i = 0; i < n; ++i) printf "customer-%d\torder-%d\n", (i * 31) % (2 * (int(n / 10) + 1)), i }' >right
      compare left right --rows "$n"
    done
    ;;
  refusals)
    refuses 1 'usage: join [--rows N] [--output DIR] [LEFT RIGHT]' join one
    refuses 1 'usage: join' join one two three
    refuses 1 'usage: join' join --rows ten
    echo here >here
    refuses 7 'missing' join here missing
    ;;
  *) fail "no case $case" ;;
esac

#!/usr/bin/env bash
# sort.sh BUILD_FOLDER CASE: the example against coreutils.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# expect SORTED_FILE: writes the summary of these lines.
expect() {
  printf 'rows\t%s\nfirst\t%s\nlast\t%s\nsorted\ttrue\n' "$(wc -l <"$1")" "$(head -n 1 "$1")" "$(tail -n 1 "$1")" >summary
}

# compare SORTED_FILE ARGS...: summary and output.
compare() {
  local sorted=$1 master
  shift
  expect "$sorted"
  succeeds summary sort "$@"
  for master in "${masters[@]}"; do
    rm -rf out
    run "$master" sort --output out "$@"
    [ "$status" -eq 0 ] || fail "sort $* on $master ended with $status: $(cat "$err")"
    cmp summary "$out"
    parts_of out | cmp - "$sorted" || fail "sort $* on $master"
  done
}

case $case in
  files)
    cp /usr/share/common-licenses/GPL-3 text
    sort text >sorted
    compare sorted text
    seq 200000 | shuf --random-source=<(yes) >numbers
    sort text numbers >sorted
    compare sorted text numbers
    printf 'b\n\xff\n\na\n\xc3\xa4\nB\nb\n' >bytes
    sort bytes >sorted
    compare sorted bytes
    : >empty
    compare empty empty
    first 250000 yes same >same
    compare same same
    ;;
  generated)
    for n in 0 1 5 100000; do
      awk -v n="$n" 'BEGIN { for (i = 0; i < n; ++i) printf "%010.0f\n", (i * 2654435761) % 4294967296 }' | sort >sorted
      compare sorted --rows "$n"
    done
    ;;
  refusals)
    refuses 1 'usage: sort [--rows N] [--output DIR] [PATH...]' sort --rows
    refuses 1 'usage: sort' sort --rows 1e6
    refuses 1 'usage: sort' sort --reverse
    refuses 7 'missing' sort missing
    mkdir out
    refuses 7 'out' sort --output out
    ;;
  *) fail "no case $case" ;;
esac

#!/usr/bin/env bash
# pagerank.sh BUILD_FOLDER CASE: the example against awk.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# expect ROUNDS FILES...: page and rank, by page.
expect() {
  local rounds=$1
  shift
  awk -v rounds="$rounds" '
    /^#/ { next }
    {
      for (i = 1; i <= NF; ++i) if (!($i in rank)) { rank[$i] = 1; ++pages }
      for (i = 2; i <= NF; ++i) if (!(($1, $i) in linked)) { linked[$1, $i] = 1; targets[$1] = targets[$1] " " $i; ++links[$1] }
    }
    END {
      for (round = 0; round < rounds; ++round) {
        rest = 0
        for (page in rank) sum[page] = 0
        for (page in rank) {
          if (!links[page]) { rest += rank[page] / pages; continue }
          n = split(targets[page], to)
          for (i = 1; i <= n; ++i) sum[to[i]] += rank[page] / n
        }
        for (page in rank) rank[page] = 0.15 + 0.85 * (sum[page] + rest)
      }
      for (page in rank) printf "%s %.6f\n", page, rank[page]
    }' "$@" | sort >expected
}

# compare ROUNDS FILES...: ranks, and the order of lines: best first, then by page.
compare() {
  expect "$@"
  same_on_all pagerank "$@"
  cp "$out" ranks
  sort -t $'\t' -k1,1nr -k2,2 ranks | cmp - ranks || fail "pagerank $*: the best are not first"
  awk '{ print $2, $1 }' ranks | sort >got
  near expected got
}

case $case in
  graphs)
    printf 'a b c\nb c\nc a\n' >cycle
    compare 0 cycle
    compare 1 cycle
    compare 30 cycle
    printf 'a b\na c\nb d\n' >dangling  # c and d link to nothing, nobody links to a
    compare 20 dangling
    printf 'a b b\na b\na\tc\n\n  \n# a d\nb a\n' >duplicates
    compare 10 duplicates
    ! grep -q d "$out" || fail "a comment counts"
    printf 'a a\nb a\nc' >itself  # c is alone
    compare 10 itself
    : >empty
    compare 10 empty
    printf '# nothing\n' >comment
    compare 3 comment
    # The size of a graph from which on all partitions have something to do; a third of the pages link to nothing.
    seq 4000 | awk '{ page = $1 * 7919 % 1201; if (page % 3) printf "p%d p%d\n", page, ($1 * $1 + page) % 1201 }' >graph
    compare 10 graph
    compare 10 graph cycle empty
    ;;
  refusals)
    echo 'a b' >here
    for arguments in '' here '10' 'ten here' '-1 here' '1.5 here'; do
      # shellcheck disable=SC2086
      refuses 1 'usage: pagerank ROUNDS PATH...' pagerank $arguments
    done
    refuses 7 'missing' pagerank 10 missing
    refuses 7 'missing' pagerank 10 here missing
    ;;
  *) fail "no case $case" ;;
esac

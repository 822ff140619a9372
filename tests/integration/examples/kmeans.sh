#!/usr/bin/env bash
# kmeans.sh BUILD_FOLDER CASE: the example against awk.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# compare K ROUNDS FILES...
compare() {
  local k=$1 rounds=$2
  awk -v k="$k" -v rounds="$rounds" '
    BEGIN { n = centres = 0 }
    NF == 0 { next }
    {
      key = ""
      for (i = 1; i <= NF; ++i) { x[n, i] = $i + 0; key = key " " ($i + 0) }
      if (centres < k && !(key in seen)) { seen[key]; for (i = 1; i <= NF; ++i) c[centres, i] = $i + 0; ++centres }
      d = NF
      ++n
    }
    END {
      for (round = 0; round < rounds; ++round) {
        split("", sum); split("", size)
        for (p = 0; p < n; ++p) {
          best = -1
          for (j = 0; j < centres; ++j) {
            distance = 0
            for (i = 1; i <= d; ++i) distance += (x[p, i] - c[j, i]) ^ 2
            if (best < 0 || distance < best) { best = distance; nearest = j }
          }
          ++size[nearest]
          for (i = 1; i <= d; ++i) sum[nearest, i] += x[p, i]
        }
        for (j = 0; j < centres; ++j) if (size[j]) for (i = 1; i <= d; ++i) c[j, i] = sum[j, i] / size[j]
      }
      for (j = 0; j < centres; ++j) {
        printf "%d", size[j]
        for (i = 1; i <= d; ++i) printf "\t%.6f", c[j, i]
        print ""
      }
    }' "${@:3}" >expected
  same_on_all kmeans "$@"
  near expected "$out"
}

case $case in
  points)
    printf '0 0\n1 1\n\n10 10\n  \n11\t9\n' >few
    compare 2 1 few
    compare 2 5 few
    compare 1 3 few
    compare 9 3 few  # more centres than points
    printf '1 2\n1 2\n1.0 2e0\n' >same
    compare 3 2 same
    printf '0\n4\n2\n' >tie  # as near to the one as to the other: to the first
    compare 2 1 tie
    : >empty
    compare 3 2 empty
    awk 'BEGIN { for (i = 0; i < 5000; ++i) printf "%.3f %.3f %.3f\n", (i % 5) * 10 + i * 7919 % 1009 / 500, (i * 104729 % 997) / 400, -(i % 3) * 6 + i % 17 / 8 }' >many
    compare 5 8 many
    printf "1 2 3\n4 5 6\n" >more
    compare 7 3 many more
    ;;
  refusals)
    echo '1 2' >here
    for arguments in '' here '2 here' '2 10' '0 10 here' '2 0 here' 'two 10 here' '-2 10 here' '2 1.5 here'; do
      # shellcheck disable=SC2086
      refuses 1 'usage: kmeans K ROUNDS PATH...' kmeans $arguments
    done
    refuses 7 'missing' kmeans 2 10 missing
    printf '1 2\n3 x4\n' >words
    refuses 1 "'x4' is no number, in the line 3 x4" kmeans 2 10 words
    for number in nan inf 1,5 1e999 0x10; do
      echo "$number" >number
      refuses 1 "'$number' is no number" kmeans 2 10 number
    done
    printf '1 2\n3\n' >dimensions
    refuses 1 'there are points of 1 and of 2 numbers' kmeans 1 10 dimensions
    ;;
  *) fail "no case $case" ;;
esac

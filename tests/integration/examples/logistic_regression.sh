#!/usr/bin/env bash
# logistic_regression.sh BUILD_FOLDER CASE: the example against awk.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# compare ROUNDS RATE FILES...
compare() {
  awk -v rounds="$1" -v rate="$2" '
    function predict(p,    sum, i) { sum = 0; for (i = 1; i <= d; ++i) sum += w[i] * x[p, i]; return 1 / (1 + exp(-sum)) }
    BEGIN { n = 0 }
    NF { label[n] = $1; x[n, 1] = 1; for (i = 2; i <= NF; ++i) x[n, i] = $i; d = NF; ++n }
    END {
      for (i = 1; i <= d; ++i) w[i] = 0
      for (round = 0; round < rounds; ++round) {
        split("", g)
        for (p = 0; p < n; ++p) { error = predict(p) - label[p]; for (i = 1; i <= d; ++i) g[i] += error * x[p, i] }
        for (i = 1; i <= d; ++i) w[i] -= rate / n * g[i]
      }
      for (i = 1; i <= d; ++i) printf "%.6f\n", w[i]
      for (p = 0; p < n; ++p) right += (predict(p) > 0.5) == (label[p] == 1)
      printf "%d of %d right\n", right, n
    }' "${@:3}" >expected
  same_on_all logistic_regression "$@"
  near expected "$out"
}

case $case in
  labels)
    printf '0 1 5\n0 2 4\n1 8 1\n1 9 2\n0 3 5\n' >few
    compare 0 1 few
    compare 1 0.5 few
    compare 100 0.1 few
    grep -qx '5 of 5 right' "$out" || fail "it learned nothing: $(cat "$out")"
    printf '1 2 3\n\n  \n1 2 3\r\n1.0\t2e0 3.00\n' >same
    compare 10 1 same
    printf '1\n1\n0\n' >bare  # labels without features: the intercept alone
    compare 50 1 bare
    : >empty
    compare 10 1 empty
    awk 'BEGIN { for (i = 0; i < 3000; ++i) { a = i * 7919 % 1009 / 500 - 1; b = i * 104729 % 997 / 500 - 1; printf "%d %.3f %.3f\n", (3 * a - 2 * b + i % 7 / 7 > 0.4), a, b } }' >many
    compare 40 2 many
    compare 10 -0.5 many few
    ;;
  refusals)
    echo '1 2' >here
    for arguments in '' here '10 1' '10 here' 'ten 1 here' '-10 1 here' '10 one here'; do
      # shellcheck disable=SC2086
      refuses 1 'usage: logistic_regression ROUNDS RATE PATH...' logistic_regression $arguments
    done
    refuses 7 'missing' logistic_regression 10 1 missing
    printf '1 2\n0 x4\n' >words
    refuses 1 "'x4' is no number, in the line 0 x4" logistic_regression 10 1 words
    printf '1 2\n-1 4\n' >labels
    refuses 1 'the label -1.000000 is neither 0 nor 1' logistic_regression 10 1 labels
    printf '1 2\n0 4 5\n' >dimensions
    refuses 1 'there are lines of 3 and of 2 numbers' logistic_regression 10 1 dimensions
    ;;
  *) fail "no case $case" ;;
esac

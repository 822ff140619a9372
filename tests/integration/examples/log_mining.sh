#!/usr/bin/env bash
# log_mining.sh BUILD_FOLDER CASE: the example against awk.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# compare SECTIONS USERS LOG...
compare() {
  awk -v sections="$1" -v users="$2" '
    BEGIN {
      while ((getline line <sections) > 0) if (split(line, f) == 2) section[f[1]] = f[2]
      while ((getline line <users) > 0) {
        if (split(line, f) == 2 && (!(f[1] in country) || f[2] < country[f[1]])) country[f[1]] = f[2]
      }
    }
    NF != 10 || $9 !~ /^[0-9]+$/ || $10 !~ /^([0-9]+|-)$/ { ++malformed; next }
    {
      best = ""
      for (prefix in section) if (index($7, prefix) == 1 && length(prefix) > length(best)) best = prefix
      where = ($3 in country ? country[$3] : "unknown") "\t" (best == "" ? "other" : section[best])
      ++requests[where]
      errors[where] += $9 >= 400
      bytes[where] += $10 == "-" ? 0 : $10
    }
    END {
      for (where in requests) printf "%s\t%.0f\t%.0f\t%.0f\n", where, requests[where], errors[where], bytes[where] | "sort"
      close("sort")
      printf "malformed\t%d\n", malformed
    }' "${@:3}" >expected
  succeeds expected log_mining "$@"
}

request() { printf '10.0.0.1 - %s [01/Jan/2026:10:00:00 +0000] "GET %s HTTP/1.1" %s %s\n' "$@"; }

case $case in
  logs)
    printf '/shop shop\n/shop/cart cart\n/img static\n' >sections
    printf 'ada uk\nbob de\ncyd uk\n' >users
    {
      request ada /shop/cart/1 200 512
      request ada /shopping 404 17
      request bob / 200 -
      request eve /img/x.png 500 99
      request cyd /shop 301 0
    } >log
    compare sections users log
    {
      echo
      echo 'nothing like a request'
      request ada '/a b' 200 1
      request ada /shop 2xx 1
      request ada /shop 200 -1
      request ada /shop -200 1
      request bob /shop 400 18446744073709
    } >malformed
    compare sections users malformed
    compare sections users log malformed log  # the same log twice
    : >empty
    compare empty empty log
    compare sections users empty
    compare empty empty empty
    printf 'ada uk\nada at\n\nada\nada uk\nbob de en\n' >doubtful  # of several countries the first by name; bob has none
    compare sections doubtful log malformed
    printf '/ root\n/shop one\n/shop two\n' >twice
    compare twice users log
    printf '/ root\n' >root
    compare root users log
    seq 20000 | awk '{ printf "1.2.3.4 - user%d [02/Jan/2026:00:00:00 +0000] \"GET /s%d/%d HTTP/1.1\" %d %d\n", $1 * 31 % 700, $1 * 7 % 23, $1, $1 % 9 ? 200 : 503, $1 * 13 % 4096 }' >large
    seq 600 | awk '{ printf "user%d country%d\n", $1, $1 % 11 }' >many_users
    seq 20 | awk '{ printf "/s%d section%d\n", $1, $1 % 6 }' >many_sections
    compare many_sections many_users large log
    ;;
  refusals)
    echo 'a b' >here
    for arguments in '' here 'here here'; do
      # shellcheck disable=SC2086
      refuses 1 'usage: log_mining SECTIONS USERS LOG...' log_mining $arguments
    done
    refuses 7 'missing' log_mining missing here here
    refuses 7 'missing' log_mining here missing here
    refuses 7 'missing' log_mining here here missing
    ;;
  *) fail "no case $case" ;;
esac

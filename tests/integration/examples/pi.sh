#!/usr/bin/env bash
# pi.sh BUILD_FOLDER CASE: the same digits wherever it runs, and near enough to pi.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

case $case in
  digits)
    masters=("local[1]" "local[4]" "local[2]")
    run "local[1]" pi
    cp "$out" eight
    grep -qxE 'Pi is roughly 3\.14[0-9]{4}' eight || fail "not pi: $(cat eight)"
    succeeds eight pi
    succeeds eight pi 8
    run "local[1]" pi 1
    cp "$out" one
    ! cmp -s one eight || fail "the number of tasks changes nothing"
    succeeds one pi 1
    ;;
  refusals)
    for arguments in 0 -1 x 1.5 99999999999 '1 2'; do
      # shellcheck disable=SC2086
      refuses 1 'usage: pi [TASKS]' pi $arguments
    done
    ;;
  *) fail "no case $case" ;;
esac

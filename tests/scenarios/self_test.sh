#!/usr/bin/env bash
# Proves that scenarios.sh finds what is there and notices what is missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
cd "$scratch"
failures=0

# check STATUS LINES NAMES ROWS: runs the script over the lists below; it must end so and print each of the lines.
check() {
  local status=0 output line
  printf '%b' "$3" >names
  printf '%b' "$4" >seed_rows.txt
  output=$("$here/scenarios.sh" names . 2>&1) || status=$?
  [ "$status" -eq "$1" ] || { echo "FAILED: ended with $status instead of $1: $output"; failures=$((failures + 1)); }
  while IFS= read -r line; do
    grep -qxF -- "$line" <<<"$output" || { echo "FAILED: no line '$line' in: $output"; failures=$((failures + 1)); }
  done < <(printf '%b' "$2")
}

printf '# a list\n\nT006 recovery\nS004-058 bad partition\n' >list.txt
echo 'add_test(x)' >CMakeLists.txt  # not a list
full='1 of 1 scenarios, 1 of 1 seed rows have tests\n'
check 0 "T006 recovery\n        dag/Dag.T006_Recovery\nS004-058 bad partition\n        dag/Dag.S004_058_Bad\n$full" \
  'dag/Dag.T006_Recovery\ndag/Dag.S004_058_Bad\n' ''
check 0 "$full" 'dag/Dag.T005_T006_S004_058_Both/0\n' ''
check 0 "$full" 'dag/Dag.S004_057_058_T006\n' ''
check 0 "$full" 'dag/Dag.T006\ndag/Dag.Bad Partition\n' 'S004-058 dag/Dag.Bad Partition\n'
check 1 'no test: T006 recovery\n0 of 1 scenarios, 1 of 1 seed rows have tests\n' 'dag/Dag.T0061\ndag/DagT006\nx/S004_058\n' ''
check 1 'no test: S004-058 bad partition\n' 'dag/Dag.T006\ndag/Dag.S004_059\ndag/Dag.S003_058\n' ''
check 1 'S004-058 names a test that does not exist: dag/Dag.Bad\nno test: S004-058 bad partition\n' 'dag/Dag.T006\n' 'S004-058 dag/Dag.Bad\n'
check 1 'seed_rows.txt has an id that no list has: S004-999\n' 'dag/Dag.T006_S004_058\n' 'S004-999 dag/Dag.T006_S004_058\n'
[ "$failures" -eq 0 ] && echo "the scenario list notices what is missing"

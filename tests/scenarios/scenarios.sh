#!/usr/bin/env bash
# scenarios.sh TESTS [FOLDER]: lists each scenario (T006) and seed row (S004-058) of FOLDER/*.txt with its tests; ends with 1 when one
# has none. TESTS is a build folder, or a file with one test name a line.
#
# A test counts for an id when its name contains it, for a seed row with an underscore: T006_FetchFailureThenRecovery,
# S004_058_RefusesMissingPartition, S000_045_047_Both. Where a test covers rows that its name cannot carry, FOLDER/seed_rows.txt says so:
# "S004-058 <full name of the test>", one a line; the test must exist.
set -euo pipefail
tests=$1
folder=${2:-$(dirname "${BASH_SOURCE[0]}")}

names=$(mktemp)
trap 'rm "$names"' EXIT
if [ -d "$tests" ]; then
  ctest --test-dir "$tests" -N | sed -nE '/\(Disabled\)/d; s/^ *Test +#[0-9]+: //p' >"$names"
else
  cp "$tests" "$names"
fi

awk -v names="$names" -v rows="$folder/seed_rows.txt" '
  BEGIN {
    while ((getline name < names) > 0) {
      exists[name] = 1
      count = split(name, parts, /[^A-Za-z0-9]+/)
      for (i = 1; i <= count; i++) {
        if (parts[i] ~ /^T[0-9][0-9][0-9]$/) add(parts[i], name)
        if (parts[i] !~ /^S[0-9][0-9][0-9]$/) continue
        for (row = i + 1; parts[row] ~ /^[0-9][0-9][0-9]$/; row++) add(parts[i] "-" parts[row], name)
      }
    }
    while ((getline line < rows) > 0) {
      if (line ~ /^(#|$)/) continue
      id = substr(line, 1, 8)
      name = substr(line, 10)
      mapped[id] = 1
      if (name in exists) add(id, name)
      else problem(id " names a test that does not exist: " name)
    }
  }
  function add(id, name) {
    if (!((id, name) in seen)) found[id] = found[id] "\n        " name
    seen[id, name] = 1
  }
  function problem(text) { problems = problems "\n" text }
  /^(#|$)/ { next }
  {
    id = $1
    kind = substr(id, 1, 1)
    known[id] = 1
    wanted[kind]++
    if (id in found) {
      covered[kind]++
      print $0 found[id]
    } else {
      problem("no test: " $0)
    }
  }
  END {
    for (id in mapped) if (!(id in known)) problem("seed_rows.txt has an id that no list has: " id)
    if (problems) print problems
    printf "\n%d of %d scenarios, %d of %d seed rows have tests\n", covered["T"], wanted["T"], covered["S"], wanted["S"]
    exit problems != ""
  }' $(ls "$folder"/*.txt | grep -vE '/(seed_rows|CMakeLists).txt$')

#!/usr/bin/env bash
# check_docs.sh [ROOT]: the pages say what is there. Every file that a page names exists, every link leads somewhere, the architecture page
# has the nodes of the figures that it redraws, and its order of rooms is the one that tests/layering checks.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/../..}"
failures=0
fail() {
  echo "$1"
  failures=$((failures + 1))
}

for page in README.md CONTRIBUTING.md CHANGELOG.md docs/*.md; do
  while IFS= read -r path; do
    [ -e "$path" ] || fail "$page names $path, which does not exist"
  done < <(grep -oE '(^|[^A-Za-z0-9_./<-])(core|sdk|plugins|tools|examples|bench|tests|conf|docs|cmake)/[A-Za-z0-9_./-]*[A-Za-z0-9_/-]' "$page" |
    sed -E 's|^[^a-z]||' | sort -u)
  while IFS= read -r link; do
    [ -e "$(dirname "$page")/$link" ] || fail "$page has a link to $link, which does not exist"
  done < <(awk '/^```/ { code = !code } !code' "$page" | sed 's/`[^`]*`//g' | grep -oE '\]\([^)#:]+' | sed 's|^](||' | sort -u)
done

page=docs/architecture.md
for node in Master Worker TaskScheduler SchedulerBackend DriverEndpoint ClientEndpoint StandaloneAppClient Executor; do
  grep -qE "^\| $node \|" "$page" || fail "$page: no row for $node of the figure in S000-021"
done
for subject in "The context" "Stages of a job" "Submitting a job" "The root pool" "A task set manager" "Scheduling tasks"; do
  grep -qE "^### $subject" "$page" || fail "$page: no figure '$subject' (S004-130)"
done
order=$(sed -n 's/^core_rooms="\(.*\)"/\1/p' tests/layering/check.sh | sed 's/ / < /g')
grep -qF "$order" "$page" || fail "$page: the order of rooms is not that of tests/layering/check.sh: $order"

[ "$failures" -eq 0 ] || exit 1
echo "the pages say what is there"

#!/usr/bin/env bash
# check_readme.sh BUILD_FOLDER: the program in README.md is the example that was compiled, and the commands shown beside it print what
# is shown.
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
for name in $(compgen -v TENON_); do unset "$name"; done
export TENON_CONF_DIR=$scratch/conf
mkdir "$TENON_CONF_DIR"

# Contents of the first code block of a language.
block() { awk -v start='```'"$1" '$0 == start && !done { inside = 1; next } /^```/ { if (inside) done = 1; inside = 0 } inside' README.md; }

block cpp >"$scratch/program"
[ -s "$scratch/program" ] || { echo "README.md has no program"; exit 1; }
diff "$scratch/program" examples/readme_wordcount.cpp || { echo "README.md and examples/readme_wordcount.cpp differ"; exit 1; }
lines=$(wc -l <"$scratch/program")
[ "$lines" -le 15 ] || { echo "the program has $lines lines, more than 15"; exit 1; }

# Commands and what they print, with the built binary in place of ./dev (which would build) and a folder of our own in place of /tmp.
block console | sed "s|/tmp/|$scratch/|g" >"$scratch/session"
grep -q '^\$ ./dev run ' "$scratch/session" || { echo "README.md shows no run of the program"; exit 1; }
sed -n 's/^\$ //p' "$scratch/session" | sed "s|^\./dev run |'$build/bin/tenon' run |" >"$scratch/commands"
bash -e "$scratch/commands" >"$scratch/printed"
sed '/^\$ /d' "$scratch/session" >"$scratch/shown"
[ -s "$scratch/shown" ] || { echo "README.md shows no output"; exit 1; }
diff "$scratch/shown" "$scratch/printed" || { echo "README.md does not show what the program prints"; exit 1; }

# Without its argument it says how to call it (S004-030).
status=0
"$build/bin/examples/readme_wordcount" >"$scratch/out" 2>"$scratch/err" || status=$?
[ "$status" -eq 1 ] && [ ! -s "$scratch/out" ] && grep -qx 'Usage: readme_wordcount <file>' "$scratch/err" ||
  { echo "without an argument: status $status, stderr: $(cat "$scratch/err")"; exit 1; }
echo "README.md shows what runs"

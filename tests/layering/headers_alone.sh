#!/usr/bin/env bash
# headers_alone.sh C++_COMPILER C_COMPILER [ROOT]: compiles each installed header alone, twice in one unit, as C++20; abi.h as C11 too.
# The flags are a user's, not the project's.
set -uo pipefail
cxx=$1 cc=$2
cd "${3:-$(dirname "${BASH_SOURCE[0]}")/../..}" || exit 2
warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only -Isdk/include -Icore/include"
export cxx warnings

alone() {
  printf '#include "%s"\n#include "%s"\n' "$1" "$1" |
    $cxx -std=c++20 $warnings -x c++ -I. - 2>&1 | sed "s|^|$1: |" | head -20
  [ "${PIPESTATUS[1]}" -eq 0 ] || { echo "$1: does not compile alone"; return 1; }
}
export -f alone

mapfile -t headers < <(find core/include sdk/include -name '*.hpp' -o -name '*.h' | sort)
[ ${#headers[@]} -gt 0 ] || { echo "no headers under $PWD" >&2; exit 2; }
status=0
printf '%s\0' "${headers[@]}" | xargs -0 -P 2 -I{} bash -c 'alone "{}"' || status=1
for header in "${headers[@]}"; do
  [[ $header == *.h ]] || continue
  printf '#include "%s"\n' "$header" | $cc -std=c11 $warnings -Wpadded -x c -I. - ||
    { echo "$header: does not compile as C11"; status=1; }
done
[ "$status" -eq 0 ] && echo "${#headers[@]} headers compile alone"
exit "$status"

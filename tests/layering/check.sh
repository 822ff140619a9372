#!/usr/bin/env bash
# check.sh [ROOT]: holds a source tree against the layering rules of docs/architecture.md. Prints one "file:line: what" for each
# breach and ends with 1 when there is one. self_test.sh proves every rule.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "${1:-$here/../..}"

# A room of core includes itself and those that stand before it.
core_rooms="include common conf loop events rdd task storage shuffle dag service plugin executor context"
sdk_rooms="include wire coarse conformance"

max_lines=600
# The whole contract of a plugin stands in one header.
too_long_but_allowed="sdk/include/tenon/plugin/abi.h"

# Schemes that core may not know, beside those of the plugins in the tree.
schemes="local local-cluster standalone spark yarn yarn-like slurm mesos k8s kubernetes sim"

standard_headers="algorithm any array atomic barrier bit bitset charconv chrono compare complex concepts condition_variable
 coroutine deque exception execution filesystem forward_list fstream functional future initializer_list iomanip ios iosfwd
 iostream istream iterator latch limits list locale map memory memory_resource mutex new numbers numeric optional ostream queue
 random ranges ratio regex scoped_allocator semaphore set shared_mutex source_location span sstream stack stdexcept stop_token
 streambuf string string_view strstream syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map
 unordered_set utility valarray variant vector version
 cassert cctype cerrno cfenv cfloat cinttypes climits clocale cmath csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib
 cstring ctime cuchar cwchar cwctype
 assert.h ctype.h errno.h float.h inttypes.h limits.h math.h stdalign.h stdarg.h stdbool.h stddef.h stdint.h stdio.h stdlib.h
 string.h time.h"

breaches=0
breach() {
  echo "$1"
  breaches=$((breaches + 1))
}

has_word() { [[ " ${1//$'\n'/ } " == *" $2 "* ]]; }

# Place of a word in a list, from 1; nothing when it is not there.
rank() {
  local i=0 word
  for word in $1; do
    i=$((i + 1))
    [ "$word" = "$2" ] && echo "$i" && return
  done
}

# core/include/tenon/x.hpp -> core/include; plugins/local/x.cpp -> plugins/local; tools/main.cpp -> tools
part_of() {
  case $1 in
    core/*/* | sdk/*/* | plugins/*/*) local rest=${1#*/}; part=${1%%/*}/${rest%%/*} ;;
    *) part=${1%%/*} ;;
  esac
}

# What an #include names, when that is a file of this tree: from the including file's folder, then from the include folders.
resolve() {
  local from=$1 name=$2 folder
  resolved=
  for folder in "${from%/*}" core core/include sdk/include sdk .; do
    if [ -f "$folder/$name" ]; then
      resolved=$(realpath -m --relative-to=. "$folder/$name")
      return
    fi
  done
}

# May code of one part include a file of another? Says why not in $why.
may_include() {
  local from=$1 to=$2
  why="$from may not include $to"
  case $from:$to in
    tools:core/* | tools:sdk/* | tools:tools | bench:core/* | bench:sdk/* | bench:bench) return 0 ;;
    examples:core/include | examples:examples) return 0 ;;
    plugins/*:sdk/*) return 0 ;;
    plugins/*:plugins/*) [ "$from" = "$to" ] ;;
    core/*:sdk/*) return 0 ;;
    core/*:core/*)
      local mine theirs
      mine=$(rank "$core_rooms" "${from#core/}")
      theirs=$(rank "$core_rooms" "${to#core/}")
      why="$from may not include $to (order of rooms: $core_rooms)"
      [ -n "$mine" ] && [ -n "$theirs" ] && [ "$theirs" -le "$mine" ]
      ;;
    sdk/*:sdk/*)
      local mine theirs
      mine=$(rank "$sdk_rooms" "${from#sdk/}")
      theirs=$(rank "$sdk_rooms" "${to#sdk/}")
      why="$from may not include $to (order of rooms: $sdk_rooms)"
      [ -n "$mine" ] && [ -n "$theirs" ] && [ "$theirs" -le "$mine" ]
      ;;
    *) return 1 ;;
  esac
}

check_includes() {
  local place file name from
  local pattern='^([^:]+:[0-9]+):[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]([^>"]+)[>"]'
  while IFS= read -r entry; do
    [[ $entry =~ $pattern ]] || continue
    place=${BASH_REMATCH[1]} name=${BASH_REMATCH[2]} file=${place%:*}
    resolve "$file" "$name"
    part_of "$file"
    from=$part
    if [ -n "$resolved" ]; then
      part_of "$resolved"
      may_include "$from" "$part" || breach "$place: $why"
    elif [[ $from == */include ]] && ! has_word "$standard_headers" "$name"; then
      breach "$place: an installed header includes <$name>, which is not of the C or C++ standard library"
    fi
  done < <(grep -E '#[[:space:]]*include' "$code" || true)
}

# Prints a breach for each line that a pattern finds: list of lines, files (an expression for the path), pattern, what to say.
forbid() {
  local place
  while IFS= read -r place; do
    breach "$place: $4"
  done < <(grep -P "^$2:\d+:$3" "$1" | grep -oP "^[^:]+:\d+" || true)
}

check_schemes() {
  local names
  names=$(grep -rhoE 'SCHEMES[[:space:]]+[^)]*' --include=CMakeLists.txt plugins 2>/dev/null | sed 's/SCHEMES//' || true)
  names=$(tr -s ' \n' '\n' <<<"$schemes $names" | grep . | sort -u | paste -sd'|')
  # A literal that is a scheme, begins as a master URL, has one in it, or names a plugin file.
  forbid "$literals" "core/[^:]*" "(($names)($|:)|.*(?<![\w-])($names)(\[|://)|.*tenon-($names)\.so)" \
    "core names the scheme of a plugin; what core knows of a master comes from the plugin's description"
}

check_sizes() {
  local lines file
  while read -r lines file; do
    [ "$file" = total ] || [ "$lines" -le "$max_lines" ] || has_word "$too_long_but_allowed" "$file" ||
      breach "$file:$lines: $lines lines, more than $max_lines"
  done < <(printf '%s\0' "${all[@]}" | xargs -0 wc -l)
}

mapfile -t sources < <(find core sdk plugins tools examples bench -name template -prune -o -type f \
  \( -name '*.hpp' -o -name '*.cpp' -o -name '*.h' -o -name '*.c' -o -name '*.ipp' \) -print 2>/dev/null | sort)
mapfile -t all < <(printf '%s\n' "${sources[@]}"; find tests -type f \( -name '*.hpp' -o -name '*.cpp' -o -name '*.sh' \) 2>/dev/null)
[ ${#sources[@]} -gt 0 ] || { echo "no sources under $PWD" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
code=$scratch/code literals=$scratch/literals
: >"$literals"
awk -v literals="$literals" -f "$here/strip_comments.awk" "${sources[@]}" >"$code"

check_includes
check_schemes
forbid "$code" "[^:]*\.(hpp|h|ipp)" ".*\busing\s+namespace\b" "a header says 'using namespace'"
forbid "$code" "(core|sdk)/include/[^:]*" "\s*#\s*define\s+(?!TENON_)" "an installed header defines a macro without TENON_"
check_sizes
[ "$breaches" -eq 0 ] || { echo "$breaches breaches of the layering rules (docs/architecture.md)"; exit 1; }
echo "${#sources[@]} files keep the layering rules"

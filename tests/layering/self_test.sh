#!/usr/bin/env bash
# self_test.sh C++_COMPILER C_COMPILER: each rule of the layering checks is broken in a small tree of its own and must be reported with
# the expected line; what only looks like a breach must pass.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cxx=$1 cc=$2
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
failures=0
cases=0

# A tree that keeps every rule, with code that only looks like a breach.
good_tree() {
  rm -rf "$scratch/tree"
  mkdir -p "$scratch"/tree/{core/{include/tenon,loop,task,dag,context},sdk/{include/tenon/plugin,wire},plugins/{one,two},tools,examples}
  cd "$scratch/tree"
  echo '#pragma once' | tee core/{loop,task,dag,context}/x.hpp plugins/{one,two}/x.hpp sdk/wire/x.hpp tools/x.hpp >/dev/null
  printf '#pragma once\n#include <vector>\n#define TENON_X 1\n' >core/include/tenon/x.hpp
  printf '#ifndef TENON_ABI_H\n#define TENON_ABI_H\n#include <stdint.h>\n#endif\n' >sdk/include/tenon/plugin/abi.h
  echo 'add(one SCHEMES one-scheme other)' >plugins/one/CMakeLists.txt
  cat >core/dag/x.cpp <<'END'
#include "dag/x.hpp"
#include "tenon/plugin/abi.h"
#include "task/x.hpp"
// if (scheme == "local") stands in a comment; so does "local[2]", and using namespace std
/* #include "context/x.hpp" */
int local_property(int local) { return local + 1'000; }
const char* a = "a local property: \"localhost\", 'tenon.local.dirs'";
END
  printf '#include "wire/x.hpp"\n#include "one/x.hpp"\n' | sed 2d >plugins/one/y.cpp
  printf '#include "context/x.hpp"\n#include "tenon/plugin/abi.h"\n' >tools/y.cpp
  printf '#include <tenon/x.hpp>\n' >examples/y.cpp
}

# expect LINE COMMAND...: the command must fail and print the line.
expect() {
  local line=$1 output
  shift
  cases=$((cases + 1))
  if output=$("$@" 2>&1); then
    echo "FAILED: not noticed: $line"
  elif ! grep -qxF -- "$line" <<<"$output"; then
    printf 'FAILED: expected "%s", got:\n%s\n' "$line" "$output"
  else
    return 0
  fi
  failures=$((failures + 1))
}

# breach FILE TEXT LINE: the text, appended to the file, must lead to the line.
breach() {
  good_tree
  printf '%b' "$2" >>"$1"
  expect "$1:$3" "$here/check.sh" "$scratch/tree"
}

good_tree
"$here/check.sh" "$scratch/tree" || failures=$((failures + 1))

core_order="include common conf loop events rdd task storage shuffle dag service plugin executor context"
scheme="core names the scheme of a plugin; what core knows of a master comes from the plugin's description"
breach core/loop/y.cpp '\n#include "context/x.hpp"\n' "2: core/loop may not include core/context (order of rooms: $core_order)"
breach core/task/x.hpp '#include "../dag/x.hpp"\n' "2: core/task may not include core/dag (order of rooms: $core_order)"
breach core/include/tenon/x.hpp '#include "loop/x.hpp"\n' "4: core/include may not include core/loop (order of rooms: $core_order)"
good_tree; mkdir core/cellar; echo '#include "loop/x.hpp"' >core/cellar/y.cpp
expect "core/cellar/y.cpp:1: core/cellar may not include core/loop (order of rooms: $core_order)" "$here/check.sh" "$scratch/tree"
breach core/dag/x.hpp '#include "plugins/one/x.hpp"\n' '2: core/dag may not include plugins/one'
breach core/dag/x.hpp '# include "tools/x.hpp"\n' '2: core/dag may not include tools'
breach sdk/include/tenon/plugin/abi.h '#include "wire/x.hpp"\n' '5: sdk/include may not include sdk/wire (order of rooms: include wire coarse conformance)'
breach sdk/wire/x.hpp '#include "tenon/x.hpp"\n' '2: sdk/wire may not include core/include'
breach plugins/one/y.cpp '#include "tenon/x.hpp"\n' '2: plugins/one may not include core/include'
breach plugins/one/y.cpp '#include "../../core/dag/x.hpp"\n' '2: plugins/one may not include core/dag'
breach plugins/one/y.cpp '#include "../two/x.hpp"\n' '2: plugins/one may not include plugins/two'
breach examples/y.cpp '#include "dag/x.hpp"\n' '2: examples may not include core/dag'
breach examples/y.cpp '#include <tenon/plugin/abi.h>\n' '2: examples may not include sdk/include'
breach tools/y.cpp '#include "plugins/one/x.hpp"\n' '3: tools may not include plugins/one'

breach core/dag/y.cpp 'bool b(const char* s) { return s == "local"; }\n' "1: $scheme"
breach core/dag/y.cpp '\n/* */ auto url = "local[" + n;\n' "2: $scheme"
breach core/dag/y.cpp 'auto url = "did you mean standalone://host?";\n' "1: $scheme"
breach core/dag/y.cpp 'auto url = R"(yarn)";\n' "1: $scheme"
breach core/dag/x.hpp 'auto file = "lib/tenon-local.so";\n' "2: $scheme"
breach core/dag/y.cpp 'auto url = "one-scheme";\n' "1: $scheme"

header='of the C or C++ standard library'
breach core/include/tenon/x.hpp '#include <msgpack.hpp>\n' "4: an installed header includes <msgpack.hpp>, which is not $header"
breach core/include/tenon/x.hpp '#  include "spdlog/spdlog.h"\n' "4: an installed header includes <spdlog/spdlog.h>, which is not $header"
breach sdk/include/tenon/plugin/abi.h '#include <unistd.h>\n' "5: an installed header includes <unistd.h>, which is not $header"
breach core/include/tenon/x.hpp '#define LOG(x) x\n' '4: an installed header defines a macro without TENON_'
breach core/loop/x.hpp 'using namespace std;\n' "2: a header says 'using namespace'"
breach core/loop/x.hpp "$(printf '//\\n%.0s' {1..600})" '601: 601 lines, more than 600'

good_tree
"$here/headers_alone.sh" "$cxx" "$cc" "$scratch/tree" || failures=$((failures + 1))
echo 'inline std::string f() { return {}; }' >>core/include/tenon/x.hpp
expect "core/include/tenon/x.hpp: does not compile alone" "$here/headers_alone.sh" "$cxx" "$cc" "$scratch/tree"
good_tree
echo 'namespace tenon {}' >>sdk/include/tenon/plugin/abi.h
expect "sdk/include/tenon/plugin/abi.h: does not compile as C11" "$here/headers_alone.sh" "$cxx" "$cc" "$scratch/tree"

cd "$scratch"
mkdir good bad
echo 'int tenon_plugin_v0(void) { return 0; }' >plugin.c
"$cc" -shared -fPIC plugin.c -o good/tenon-one.so
"$cc" -shared -fPIC plugin.c -o libtenon.so -Wl,-soname,libtenon.so.0
"$cc" -shared -fPIC plugin.c -o bad/tenon-two.so -Wl,--no-as-needed ./libtenon.so
"$cc" -shared -fPIC plugin.c -o bad/tenon-three.so -Wl,--no-as-needed good/tenon-one.so
links() { printf '%s\n' "$@" >links; echo 'plugins/one plugin_one tenon::sdk' >>links; }
links 'core tenon tenon_objects' 'examples example_x tenon::tenon' 'tools tenon_tool tenon_static'
"$here/check_links.sh" links good || failures=$((failures + 1))
expect "tenon-two.so needs libtenon.so.0" "$here/check_links.sh" links bad
expect "tenon-three.so needs good/tenon-one.so" "$here/check_links.sh" links bad
expect "no plugin in none" "$here/check_links.sh" links none
links 'plugins/two plugin_two tenon::sdk tenon_static'
expect "plugins/two: plugin_two links tenon_static" "$here/check_links.sh" links good
links 'plugins/two plugin_two plugin_one'
expect "plugins/two: plugin_two links plugin_one" "$here/check_links.sh" links good
links 'sdk tenon_wire tenon::tenon'
expect "sdk: tenon_wire links tenon::tenon" "$here/check_links.sh" links good
links 'core tenon plugin_one'
expect "core: tenon links plugin_one" "$here/check_links.sh" links good
links 'examples example_x tenon_static'
expect "examples: example_x links tenon_static" "$here/check_links.sh" links good

echo "$cases breaches tried, $failures not reported as they should be"
[ "$failures" -eq 0 ]

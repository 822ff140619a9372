// The header as C++20 with every warning that finds hidden padding, and its macros in use.
#include "layout.h"

#if __cplusplus < 202002L
#error "to be compiled as C++20"
#endif

int tenon_test_uses_macros_cxx(const tenon_host* host, tenon_tasks tasks);
int tenon_test_uses_macros_cxx(const tenon_host* host, tenon_tasks tasks) {
  constexpr tenon_str text = TENON_STR("text");
  int set = int{TENON_HAS_FIELD(host, ctx)} + int{TENON_HAS_FUNCTION(host, log)};
  if (tasks.count != 0 && TENON_ELEMENT_HAS(tasks, payload)) {
    set += int{TENON_AT(tasks, 0)->payload.size == text.size};
  }
  return set;
}

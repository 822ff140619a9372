/* The header as C11 with every warning that finds hidden padding, and its macros in use. */
#include "layout.h"

#if !defined(__STDC_VERSION__) || __STDC_VERSION__ != 201112L
#error "to be compiled as C11"
#endif

int tenon_test_uses_macros(const tenon_host* host, tenon_tasks tasks);
int tenon_test_uses_macros(const tenon_host* host, tenon_tasks tasks) {
  const tenon_str text = TENON_STR("text");
  int set = TENON_HAS_FIELD(host, ctx) + TENON_HAS_FUNCTION(host, log);
  if (tasks.count != 0 && TENON_ELEMENT_HAS(tasks, payload)) {
    set += TENON_AT(tasks, 0)->payload.size == text.size;
  }
  return set;
}

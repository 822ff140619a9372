/* A plugin with one fault, chosen by a macro. Scheme and name come from the build. */
#include <string.h>

#include "tenon/plugin/abi.h"

#ifndef BAD_MAJOR
#define BAD_MAJOR TENON_ABI_MAJOR
#endif
#ifndef BAD_MINOR
#define BAD_MINOR TENON_ABI_MINOR
#endif
#ifndef BAD_ENTRY
#define BAD_ENTRY tenon_plugin_v0
#endif
#ifndef BAD_TAKES
#define BAD_TAKES BAD_SCHEME
#endif
#ifndef BAD_NO_LAUNCH
#define BAD_NO_LAUNCH 0
#endif
#ifndef BAD_NO_DESCRIPTION
#define BAD_NO_DESCRIPTION 0
#endif
#ifndef BAD_NULL_ENTRY
#define BAD_NULL_ENTRY 0
#endif

#ifdef BAD_UNDEFINED_SYMBOL
extern int tenon_test_function_of_nobody(void);
#define TOUCH tenon_test_function_of_nobody
#elif defined(BAD_MISSING_LIBRARY)
extern int tenon_test_function_of_missing_library(void);
#define TOUCH tenon_test_function_of_missing_library
#endif

static tenon_status create(const tenon_args* args, const tenon_scheduler_events* events,
                           tenon_scheduler_backend** out, tenon_error* error) {
  static char backend;
  (void)args;
  (void)events;
  (void)error;
#ifdef TOUCH
  if (TOUCH()) return TENON_INTERNAL;
#endif
  *out = (tenon_scheduler_backend*)(void*)&backend;
  return TENON_OK;
}
static void destroy(tenon_scheduler_backend* self) { (void)self; }
static tenon_status start(tenon_scheduler_backend* self, tenon_error* error) {
  (void)self;
  (void)error;
  return TENON_OK;
}
static tenon_status stop(tenon_scheduler_backend* self, int32_t code, tenon_error* error) {
  (void)self;
  (void)code;
  (void)error;
  return TENON_OK;
}
static tenon_status kill_task(tenon_scheduler_backend* self, uint64_t task, tenon_str executor,
                              uint32_t flags, tenon_str reason, tenon_error* error) {
  (void)self;
  (void)task;
  (void)executor;
  (void)flags;
  (void)reason;
  (void)error;
  return TENON_OK;
}
static tenon_status launch_tasks(tenon_scheduler_backend* self, uint64_t offer, tenon_tasks tasks,
                                 tenon_error* error) {
  (void)self;
  (void)offer;
  (void)tasks;
  (void)error;
  return TENON_OK;
}

static const tenon_scheduler_backend_api kScheduler = {
#ifdef BAD_SHORT_TABLE
    .struct_size = offsetof(tenon_scheduler_backend_api, launch_tasks),
#else
    .struct_size = sizeof(tenon_scheduler_backend_api),
#endif
    .create = create,
    .destroy = destroy,
    .start = start,
    .stop = stop,
    .revive_offers = start,
    .launch_tasks = BAD_NO_LAUNCH ? NULL : launch_tasks,
    .kill_task = kill_task,
};

static const tenon_str kSchemes[] = {TENON_STR(BAD_TAKES)};
static const tenon_description kDescription = {
    .struct_size = sizeof(tenon_description),
    .deploy_modes = TENON_DEPLOY_CLIENT,
    .summary = TENON_STR("has a fault"),
    .schemes = {kSchemes, 1, sizeof(tenon_str)},
};

static const void* get_interface(const char* id) {
  if (strcmp(id, TENON_DESCRIPTION) == 0) return BAD_NO_DESCRIPTION ? NULL : &kDescription;
  if (strcmp(id, TENON_SCHEDULER_BACKEND) == 0) return &kScheduler;
  return NULL;
}

TENON_EXPORT const tenon_plugin* BAD_ENTRY(void);
const tenon_plugin* BAD_ENTRY(void) {
  static const tenon_plugin kPlugin = {
      sizeof(tenon_plugin),         BAD_MAJOR,          BAD_MINOR,    0,
      TENON_STR("bad-" BAD_SCHEME), TENON_STR("0.3.2"), get_interface};
  return BAD_NULL_ENTRY ? NULL : &kPlugin;
}

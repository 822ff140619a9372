// All of the C++ wrapper. Header-only over abi.h; needs the C++ standard library alone.
#pragma once

#include "tenon/plugin/abi.h"
#include "tenon/plugin/buffer.hpp"
#include "tenon/plugin/checks.hpp"
#include "tenon/plugin/core.hpp"
#include "tenon/plugin/entry.hpp"
#include "tenon/plugin/error.hpp"
#include "tenon/plugin/executor_backend.hpp"
#include "tenon/plugin/free_cores.hpp"
#include "tenon/plugin/host.hpp"
#include "tenon/plugin/scheduler_backend.hpp"
#include "tenon/plugin/text.hpp"
#include "tenon/plugin/views.hpp"

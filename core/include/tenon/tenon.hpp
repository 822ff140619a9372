/// @file tenon.hpp
/// The whole program API.
#pragma once

#include "tenon/accumulator.hpp"
#include "tenon/broadcast.hpp"
#include "tenon/codec.hpp"
#include "tenon/conf.hpp"
#include "tenon/context.hpp"
#include "tenon/csv.hpp"
#include "tenon/error.hpp"
#include "tenon/function.hpp"
#include "tenon/json.hpp"
#include "tenon/listener.hpp"
#include "tenon/partitioner.hpp"
#include "tenon/rdd.hpp"
#include "tenon/records.hpp"
#include "tenon/shuffle_codec.hpp"
#include "tenon/status_tracker.hpp"
#include "tenon/storage_level.hpp"
#include "tenon/task_context.hpp"
#include "tenon/words.hpp"

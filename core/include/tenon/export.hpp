/// @file export.hpp
/// Marks what libtenon exports; everything else of it is hidden.
#pragma once

/// On a class or function: part of libtenon's public API.
#define TENON_API __attribute__((visibility("default")))

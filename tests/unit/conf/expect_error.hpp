// Expects that a call throws tenon::Error of one kind with exactly this message.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tenon/error.hpp"

namespace tenon {

template <class Call>
void expect_error(ErrorKind kind, const std::string& message, Call&& call) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown; expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), message);
    EXPECT_EQ(to_string(error.kind()), to_string(kind));
  }
}

}  // namespace tenon

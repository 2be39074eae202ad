#pragma once

// What a kernel records, for tests: its text and its fingerprint.

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "teeny/base/error.hpp"
#include "teeny/ir/fingerprint.hpp"
#include "teeny/ir/text.hpp"
#include "teeny/kernel.hpp"
#include "teeny/lang/trace.hpp"

namespace teeny::test {

template <class K>
ir::Kernel recorded(const K& kernel) {
  return lang::record_kernel(kernel, "k");
}

template <class K>
std::string text(const K& kernel) {
  return ir::print(recorded(kernel));
}

/// The two record the same kernel, whatever the order of recording.
template <class A, class B>
testing::AssertionResult same_kernel(const A& a, const B& b) {
  const ir::Kernel left = recorded(a);
  const ir::Kernel right = recorded(b);
  if (ir::fingerprint(left) == ir::fingerprint(right)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << ir::print(left) << "\ndiffers from\n" << ir::print(right);
}

/// The whole text of the teeny::Error that `call` throws; "" when it throws none.
template <class F>
std::string error_of(F&& call) {
  try {
    std::forward<F>(call)();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace teeny::test

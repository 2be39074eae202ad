#include "teeny/base/error.hpp"

#include <gtest/gtest.h>

namespace teeny {
namespace {

TEST(Error, WholeTextHasTheNextStepOnItsOwnLine) {
  const Error error(ErrorKind::input, "wanted a, found b", "do c");
  EXPECT_STREQ(error.what(), "wanted a, found b\ndo c");
  EXPECT_EQ(error.message(), "wanted a, found b");
  EXPECT_EQ(error.next(), "do c");
  EXPECT_STREQ(Error(ErrorKind::input, "alone").what(), "alone");
}

TEST(Error, ExitCodes) {
  EXPECT_EQ(Error(ErrorKind::usage, "x").exit_code(), 2);
  for (const auto kind :
       {ErrorKind::input, ErrorKind::environment, ErrorKind::board, ErrorKind::internal}) {
    EXPECT_EQ(Error(kind, "x").exit_code(), 1);
    EXPECT_EQ(Error(kind, "x").kind(), kind);
  }
  EXPECT_EQ(Error(ErrorKind::board, "x", "y", 11).exit_code(), 11);
}

}  // namespace
}  // namespace teeny

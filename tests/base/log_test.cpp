#include "teeny/base/log.hpp"

#include <gtest/gtest.h>

namespace teeny {
namespace {

TEST(Log, WithinTheLimitOnly) {
  ASSERT_EQ(log_level(), LogLevel::notice);
  testing::internal::CaptureStderr();
  log(LogLevel::notice, "seen");
  log(LogLevel::debug, "not seen");
  set_log_level(LogLevel::error);
  log(LogLevel::warning, "not seen");
  log(LogLevel::error, "seen too");
  set_log_level(LogLevel::notice);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "teeny: seen\nteeny: seen too\n");
}

}  // namespace
}  // namespace teeny

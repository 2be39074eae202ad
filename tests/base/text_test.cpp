#include "teeny/base/text.hpp"

#include <gtest/gtest.h>

namespace teeny {
namespace {

using Words = std::vector<std::string>;

TEST(Text, Split) {
  EXPECT_EQ(split("a,b,c", ','), (Words{"a", "b", "c"}));
  EXPECT_EQ(split("", ','), (Words{""}));
  EXPECT_EQ(split(",a,", ','), (Words{"", "a", ""}));
}

TEST(Text, Trim) {
  EXPECT_EQ(trim("  a b\t\n"), "a b");
  EXPECT_EQ(trim(" \t"), "");
  EXPECT_EQ(trim("x"), "x");
}

TEST(Text, Join) {
  EXPECT_EQ(join({}, ", "), "");
  EXPECT_EQ(join({"a", "b"}, ", "), "a, b");
}

TEST(Text, ParseUnsigned) {
  EXPECT_EQ(parse_unsigned("0"), 0U);
  EXPECT_EQ(parse_unsigned("007"), 7U);
  EXPECT_EQ(parse_unsigned("18446744073709551615"), 18446744073709551615U);
  for (const char* text : {"", "18446744073709551616", "99999999999999999999", "-1", "+1", " 1",
                           "1 ", "1.0", "0x1", "a"}) {
    EXPECT_FALSE(parse_unsigned(text)) << text;
  }
}

TEST(Text, AnyBytesAsPrintableText) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  const std::string text = escape_bytes(all);
  for (const char c : text) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << static_cast<int>(c);
  EXPECT_EQ(unescape_bytes(text), all);
  EXPECT_EQ(escape_bytes("a b/100%"), "a b/100%25");
  for (const char* bad : {"%", "%4", "a%4", "%G0", "%0g", "%a0"}) {
    EXPECT_EQ(unescape_bytes(bad), std::nullopt) << bad;
  }
}

TEST(Text, Nearest) {
  const Words known = {"capability", "ptx-version", "driver", "jobs"};
  EXPECT_EQ(nearest("capabilty", known), "capability");
  EXPECT_EQ(nearest("ptx_version", known), "ptx-version");
  EXPECT_EQ(nearest("dirver", known), "driver");
  EXPECT_EQ(nearest("bananas", known), std::nullopt);
  EXPECT_EQ(nearest("x", {"ab"}), std::nullopt);
  EXPECT_EQ(nearest("", {}), std::nullopt);
  // The nearest wins, not the first.
  EXPECT_EQ(nearest("sm_88", {"sm_75", "sm_87"}), "sm_87");
}

}  // namespace
}  // namespace teeny

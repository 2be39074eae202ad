#include "teeny/base/digest.hpp"

#include <gtest/gtest.h>

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"

namespace teeny {
namespace {

// The examples of FIPS 180-4's companion document, and the empty text.
TEST(Sha256, PublishedVectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesOfAnySizeMakeTheSameDigest) {
  std::string text;
  for (int i = 0; i < 300; ++i) text.push_back(static_cast<char>(i * 7 + 1));
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const std::string whole = sha256_hex(std::string_view(text).substr(0, length));
    for (const std::size_t piece : {1U, 3U, 63U, 64U, 65U}) {
      Sha256 digest;
      for (std::size_t at = 0; at < length; at += piece) {
        digest.update(std::string_view(text).substr(at, std::min(piece, length - at)));
      }
      ASSERT_EQ(digest.hex(), whole) << length << " by " << piece;
    }
  }
}

TEST(Sha256, FieldsCannotRunTogether) {
  EXPECT_NE(Sha256().field("ab").field("c").hex(), Sha256().field("a").field("bc").hex());
  EXPECT_EQ(Sha256().field("ab").hex(),
            Sha256().update(std::string_view("\2\0\0\0\0\0\0\0ab", 10)).hex());
  EXPECT_EQ(Sha256().number(0x0102030405060708U).hex(),
            Sha256().update("\x8\x7\x6\x5\x4\x3\x2\x1").hex());
}

TEST(Sha256, AnEmptyViewOfNothingChangesNothing) {
  const std::string abc = Sha256().update("abc").hex();
  EXPECT_EQ(Sha256().update("a").update(std::string_view()).update("bc").hex(), abc);
  EXPECT_EQ(Sha256().field(std::string_view()).hex(), Sha256().field("").hex());
}

TEST(Sha256, Files) {
  const TemporaryDirectory directory;
  const std::string bytes(700'001, '\3');
  write_file(directory.path() / "f", bytes);
  EXPECT_EQ(sha256_file(directory.path() / "f"), sha256_hex(bytes));
  try {
    static_cast<void>(sha256_file(directory.path() / "absent"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::environment);
    EXPECT_NE(error.message().find("absent: No such file"), std::string::npos) << error.what();
  }
  EXPECT_THROW(static_cast<void>(sha256_file(directory.path())), Error);
}

}  // namespace
}  // namespace teeny

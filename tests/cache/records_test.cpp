#include "teeny/cache/records.hpp"

#include <gtest/gtest.h>

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"

namespace teeny {
namespace {

TEST(Records, ComeBackWhateverBytesTheKeysHold) {
  TemporaryDirectory directory;
  ProgramRecords records("my program");
  const std::string odd = "6MatmulIfE|5:a\xff\"%\n\\b\x00z";
  records.add(odd, {"Matmul", "Matmul<float>{é}", std::string(64, 'a'), {"Matmul-a/cpu.k.so"}});
  records.add("3AddIfE", {"Add", "Add<float>", std::string(64, 'b'), {"z", "a", "z"}});
  records.write(directory.path() / "cache");
  const auto back = ProgramRecords::read(directory.path() / "cache", "my program");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->kernels(), records.kernels());
  ASSERT_NE(back->find(odd), nullptr);
  EXPECT_EQ(back->find(odd)->readable, "Matmul<float>{é}");
  EXPECT_EQ(back->find("3AddIfE")->artifacts, (std::vector<std::string>{"a", "z"}));
  EXPECT_EQ(back->find("none"), nullptr);
}

TEST(Records, SameRecordsSameBytesInAnyOrder) {
  TemporaryDirectory directory;
  const KernelRecord one{"A", "A", std::string(64, 'a'), {"1", "2"}};
  const KernelRecord two{"B", "B", std::string(64, 'b'), {"3"}};
  ProgramRecords forth("p");
  forth.add("a", one);
  forth.add("b", two);
  forth.write(directory.path() / "x");
  ProgramRecords back("p");
  back.add("b", two);
  back.add("a", {"A", "A", one.fingerprint, {"2"}});
  back.add("a", {"A", "A", one.fingerprint, {"1"}});
  back.write(directory.path() / "y");
  EXPECT_EQ(read_file(ProgramRecords::path(directory.path() / "x", "p")),
            read_file(ProgramRecords::path(directory.path() / "y", "p")));
}

TEST(Records, P47_DeclaredMemoryComesBackAndNoneIsNotZero) {
  TemporaryDirectory directory;
  const auto again = [&](std::optional<std::uint64_t> bytes) {
    ProgramRecords records("p");
    records.set_peak_device_bytes(bytes);
    records.write(directory.path());
    return ProgramRecords::read(directory.path(), "p")->peak_device_bytes();
  };
  for (const std::optional<std::uint64_t> bytes :
       {std::optional<std::uint64_t>{}, std::optional<std::uint64_t>{0},
        std::optional<std::uint64_t>{~std::uint64_t{0}}}) {
    EXPECT_EQ(again(bytes), bytes);
  }
  write_file(ProgramRecords::path(directory.path(), "p"),
             R"({"schema": 1, "program": "p", "kernels": {}, "peak_device_bytes": -1})");
  EXPECT_THROW(static_cast<void>(ProgramRecords::read(directory.path(), "p")), Error);
}

TEST(Records, AChangedKernelReplacesItsRecord) {
  ProgramRecords records("p");
  records.add("a", {"A", "A", std::string(64, 'a'), {"old"}});
  records.add("a", {"A", "A", std::string(64, 'b'), {"new"}});
  EXPECT_EQ(records.find("a")->artifacts, std::vector<std::string>{"new"});
}

TEST(Records, AbsentIsNotAnErrorButDamageIs) {
  TemporaryDirectory directory;
  EXPECT_FALSE(ProgramRecords::read(directory.path(), "p"));
  ProgramRecords records("p");
  records.add("a", {"A", "A", std::string(64, 'a'), {"x"}});
  records.write(directory.path());
  const auto path = ProgramRecords::path(directory.path(), "p");
  const std::string text = read_file(path);
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {
    write_file(path, text.substr(0, length));
    EXPECT_THROW(static_cast<void>(ProgramRecords::read(directory.path(), "p")), Error) << length;
  }
}

TEST(Records, NewerFormatsAndForeignPathsAreRefused) {
  TemporaryDirectory directory;
  std::filesystem::create_directory(directory.path() / "programs");
  const auto path = ProgramRecords::path(directory.path(), "p");
  const auto refused = [&](const std::string& text, const std::string& word) {
    write_file(path, text);
    try {
      static_cast<void>(ProgramRecords::read(directory.path(), "p"));
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(error.message().find(word), std::string::npos) << error.message();
      EXPECT_NE(error.message().find(path.string()), std::string::npos) << error.message();
    }
  };
  refused(R"({"schema": 2, "program": "p", "kernels": {}})", "format 2");
  refused(R"({"schema": 1, "program": "q", "kernels": {}})", "program q");
  for (const char* artifact : {"../x", "/etc/passwd", "a/../../b", ""}) {
    const std::string record = R"({"kernel": "K", "type": "K", "fingerprint": "f", )"
                               R"("artifacts": [")" +
                               std::string(artifact) + R"("]})";
    refused(R"({"schema": 1, "program": "p", "kernels": {"k": )" + record + "}}",
            "below the cache");
  }
}

}  // namespace
}  // namespace teeny

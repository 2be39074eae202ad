#include "tool/transport/tar.hpp"

#include <gtest/gtest.h>

#include "tool/package/manifest.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/process.hpp"

namespace fs = std::filesystem;
using namespace teeny;
using namespace teeny::tool;

TEST(Tar, IsUnpackedByTar) {
  const TemporaryDirectory directory("tar 'é $");
  const fs::path from = directory.path() / "from";
  const std::string deep(90, 'd');
  fs::create_directories(from / deep / deep / "empty");
  write_file(from / deep / deep / "file with a long path", "long");
  write_file(from / "program", std::string(1000, 'x'), 0755);
  write_file(from / "é $'\"", std::string(512, 'y'));
  write_file(from / "nothing", "");
  std::string stream;
  const auto written = write_tar(from, [&stream](std::string_view bytes) {
    stream.append(bytes);
    return true;
  });
  EXPECT_EQ(written, stream.size());
  const fs::path to = directory.path() / "to";
  fs::create_directories(to);
  Command command{{"tar", "-x", "-p", "-f", "-", "-C", to.string()}};
  command.input = stream;
  const auto result = run(command);
  ASSERT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(list_files(to), list_files(from));
  EXPECT_TRUE(fs::is_directory(to / deep / deep / "empty"));
}

TEST(Tar, StopsWhenNobodyReads) {
  const TemporaryDirectory directory("tar");
  write_file(directory.path() / "a", "a");
  EXPECT_EQ(write_tar(directory.path(), [](std::string_view) { return false; }), std::nullopt);
}

TEST(Tar, RefusesLinks) {
  const TemporaryDirectory directory("tar");
  fs::create_symlink("/etc/passwd", directory.path() / "a");
  EXPECT_THROW(
      static_cast<void>(write_tar(directory.path(), [](std::string_view) { return true; })), Error);
}

#include "tool/package/manifest.hpp"

#include <gtest/gtest.h>

#include "tool/package/kernels.hpp"
#include "tool/package/staging.hpp"
#include "tool/package/table.hpp"

#include "teeny/base/digest.hpp"
#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/cache/records.hpp"

namespace fs = std::filesystem;
using namespace teeny;
using namespace teeny::tool;

namespace {

Manifest example() {
  Manifest manifest;
  manifest.name = "demo é";
  manifest.board = "jetson-orin-nano@6.0";
  manifest.triple = "aarch64-linux-gnu";
  manifest.programs = {"demo"};
  manifest.devices = {{"cuda", "capability=sm_87,driver=12.2"}, {"cpu", ""}};
  manifest.files = {{"bin/demo", 0755, 3, sha256_hex("abc")},
                    {"data/a b", 0644, 0, sha256_hex("")}};
  manifest.tools = {{"teeny", "1"}};
  return manifest;
}

void make_package(const fs::path& directory) {
  fs::create_directories(directory / "bin");
  fs::create_directories(directory / "conf");
  fs::create_directories(directory / "data");
  write_file(directory / "bin" / "demo", "abc", 0755);
  write_file(directory / "data" / "a b", "");
}

}  // namespace

TEST(Manifest, ReadsBackWhatItWrites) {
  const Manifest manifest = example();
  const std::string json = manifest.to_json();
  EXPECT_EQ(manifest.to_json(), json);
  const PackageContents read = PackageContents::from_json(json, "m.json");
  EXPECT_EQ(read.name, manifest.name);
  EXPECT_EQ(read.board, manifest.board);
  EXPECT_EQ(read.triple, manifest.triple);
  EXPECT_EQ(read.programs, manifest.programs);
  EXPECT_EQ(read.devices, manifest.devices);
  EXPECT_EQ(read.files, manifest.files);
}

TEST(Manifest, P47_DeclaredMemoryIsTheMostOfAnyProgramOrUnknown) {
  const TemporaryDirectory package("package");
  const auto declare = [&](const std::string& program, std::optional<std::uint64_t> bytes) {
    ProgramRecords records(program);
    records.set_peak_device_bytes(bytes);
    records.write(package.path() / "cache");
  };
  const auto peak_in_manifest = [&](const std::vector<std::string>& programs) {
    Manifest manifest = example();
    manifest.peak_device_bytes = peak_device_bytes(package.path(), programs);
    return PackageContents::from_json(manifest.to_json(), "m.json").peak_device_bytes;
  };
  declare("a", 100);
  declare("b", std::uint64_t{1} << 40U);
  declare("c", std::nullopt);
  EXPECT_EQ(peak_in_manifest({"a"}), 100U);
  EXPECT_EQ(peak_in_manifest({"a", "b"}), std::uint64_t{1} << 40U);
  EXPECT_EQ(peak_in_manifest({"a", "b", "c"}), std::nullopt);
  EXPECT_EQ(peak_in_manifest({"a", "no record"}), std::nullopt);
  EXPECT_NE(example().to_json().find("\"peak_device_bytes\": null"), std::string::npos);
}

TEST(Manifest, RefusesDamageNewerSchemasAndPathsThatLeaveThePackage) {
  const std::string json = example().to_json();
  for (std::size_t size = 0; size + 1 < json.size(); size += 61) {
    EXPECT_THROW(static_cast<void>(PackageContents::from_json(json.substr(0, size), "m.json")),
                 Error);
  }
  std::string newer = json;
  newer.replace(newer.find("teeny-package/1"), 15, "teeny-package/9");
  try {
    static_cast<void>(PackageContents::from_json(newer, "m.json"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("teeny-package/9"), std::string::npos);
  }
  for (const char* path : {"../x", "/etc/passwd", "a/../../b", ""}) {
    Manifest manifest = example();
    manifest.files[0].path = path;
    EXPECT_THROW(static_cast<void>(PackageContents::from_json(manifest.to_json(), "m")), Error)
        << path;
  }
  Manifest bad = example();
  bad.files[0].path = "data/\xff";
  EXPECT_THROW(static_cast<void>(bad.to_json()), Error);
}

TEST(Manifest, ListsTheFilesOfADirectory) {
  const TemporaryDirectory directory("list files");
  make_package(directory.path());
  write_file(directory.path() / Manifest::path, "{}");
  EXPECT_EQ(list_files(directory.path()), example().files);
  fs::create_symlink("demo", directory.path() / "bin" / "link");
  EXPECT_THROW(static_cast<void>(list_files(directory.path())), Error);
}

TEST(Manifest, NamesEveryDifference) {
  auto wanted = example().files;
  EXPECT_TRUE(compare_files(wanted, wanted).empty());
  auto found = wanted;
  found[0].mode = 0644;
  found[1].sha256 = sha256_hex("x");
  found.push_back({"bin/stale", 0644, 0, ""});
  EXPECT_EQ(compare_files(wanted, found),
            (std::vector<std::string>{"another mode: bin/demo", "altered: data/a b",
                                      "extra: bin/stale"}));
  EXPECT_EQ(compare_files(wanted, {}),
            (std::vector<std::string>{"missing: bin/demo", "missing: data/a b"}));
}

TEST(Staging, ReplacesAPackageWholeAndNothingElse) {
  const TemporaryDirectory directory("stage $ 'é");
  const fs::path destination = directory.path() / "deep" / "package";
  for (const char* text : {"one", "two"}) {
    const Staging staging(destination);
    write_file(staging.directory() / "bin" / text, text, 0700);
    write_file(staging.directory() / Manifest::path, text, 0600);
    write_file(staging.directory() / "cache" / ".x.lock", "");
    fs::permissions(staging.directory() / "cache", fs::perms::owner_all);
    staging.normalise();
    staging.publish();
    EXPECT_EQ(read_file(destination / Manifest::path), text);
  }
  EXPECT_FALSE(fs::exists(destination / "bin" / "one"));
  EXPECT_FALSE(fs::exists(destination / "cache" / ".x.lock"));
  EXPECT_EQ(fs::status(destination / "cache").permissions(), static_cast<fs::perms>(0755));
  EXPECT_EQ(fs::status(destination / "bin" / "two").permissions(), static_cast<fs::perms>(0755));
  EXPECT_EQ(fs::status(destination / Manifest::path).permissions(), static_cast<fs::perms>(0644));
  // Nothing of the work stays beside it.
  EXPECT_EQ(std::distance(fs::directory_iterator(destination.parent_path()), {}), 1);
  const fs::path other = directory.path() / "mine";
  fs::create_directories(other);
  write_file(other / "letter", "");
  try {
    const Staging staging(other);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
  }
}

TEST(Table, AlignsColumns) {
  EXPECT_EQ(aligned({{"a", "bb", "c"}, {"aaa", "b", "cc"}}), "a    bb  c\naaa  b   cc\n");
  EXPECT_EQ(readable_size(0), "0 B");
  EXPECT_EQ(readable_size(1023), "1023 B");
  EXPECT_EQ(readable_size(1536), "1.5 KiB");
  EXPECT_EQ(readable_size(50ULL << 20), "50 MiB");
}

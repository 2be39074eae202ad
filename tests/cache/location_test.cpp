#include "teeny/cache/location.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/cache/cache.hpp"

namespace fs = std::filesystem;

namespace teeny {
namespace {

class Location : public testing::Test {
 protected:
  Location() {
    fs::create_directories(root_.path() / "app" / "bin");
    fs::create_directories(root_.path() / "tmp");
    surroundings_.executable = root_.path() / "app" / "bin" / "program";
    surroundings_.temporary = root_.path() / "tmp";
    surroundings_.user = ::geteuid();
  }
  void set_variable(const fs::path& value) { surroundings_.variable = value.string(); }

  TemporaryDirectory root_;
  CacheSurroundings surroundings_;
};

TEST_F(Location, CacheBesideTheExecutablesDirectoryComesFirst) {
  fs::create_directories(root_.path() / "app" / "cache");
  fs::create_directories(root_.path() / "app" / "bin" / "cache");
  set_variable(root_.path() / "named");
  EXPECT_EQ(default_cache_dir(surroundings_), root_.path() / "app" / "cache");
}

TEST_F(Location, CacheInTheExecutablesDirectoryComesSecond) {
  fs::create_directories(root_.path() / "app" / "bin" / "cache");
  set_variable(root_.path() / "named");
  EXPECT_EQ(default_cache_dir(surroundings_), root_.path() / "app" / "bin" / "cache");
}

TEST_F(Location, TheVariableComesThird) {
  fs::create_directories(root_.path() / "tmp" / "teenyc_cache");
  set_variable(root_.path() / "named é $");
  EXPECT_EQ(default_cache_dir(surroundings_), root_.path() / "named é $");
}

TEST_F(Location, AnEmptyVariableCountsAsNone) {
  surroundings_.variable = "";
  EXPECT_EQ(default_cache_dir(surroundings_), root_.path() / "tmp" / "teenyc_cache");
}

TEST_F(Location, ARelativeVariableIsMadeAbsolute) {
  surroundings_.variable = "here";
  EXPECT_EQ(default_cache_dir(surroundings_), fs::absolute("here"));
}

TEST_F(Location, TheTemporaryOneComesLastAndIsNotMadeByLooking) {
  EXPECT_EQ(default_cache_dir(surroundings_), root_.path() / "tmp" / "teenyc_cache");
  EXPECT_FALSE(fs::exists(root_.path() / "tmp" / "teenyc_cache"));
}

TEST_F(Location, AFileNamedCacheIsNoCache) {
  write_file(root_.path() / "app" / "cache", "a file");
  EXPECT_EQ(default_cache_dir(surroundings_), root_.path() / "tmp" / "teenyc_cache");
}

TEST_F(Location, OursInTheTemporaryDirectoryIsKept) {
  fs::create_directories(root_.path() / "tmp" / "teenyc_cache");
  ::chmod((root_.path() / "tmp" / "teenyc_cache").c_str(), 0700);
  EXPECT_EQ(default_cache_dir(surroundings_), root_.path() / "tmp" / "teenyc_cache");
}

TEST_F(Location, AnothersOrOneThatOthersMayWriteIsNotTaken) {
  const fs::path shared = root_.path() / "tmp" / "teenyc_cache";
  fs::create_directories(shared);
  const fs::path own = shared.string() + "-" + std::to_string(surroundings_.user);
  ::chmod(shared.c_str(), 0777);
  EXPECT_EQ(default_cache_dir(surroundings_), own);
  ::chmod(shared.c_str(), 0700);
  surroundings_.user += 1;  // whose it now is not
  EXPECT_EQ(default_cache_dir(surroundings_),
            fs::path(shared.string() + "-" + std::to_string(surroundings_.user)));
}

TEST_F(Location, ALinkInTheTemporaryDirectoryIsNotFollowed) {
  fs::create_directories(root_.path() / "elsewhere");
  fs::create_symlink(root_.path() / "elsewhere", root_.path() / "tmp" / "teenyc_cache");
  EXPECT_EQ(default_cache_dir(surroundings_),
            root_.path() / "tmp" / ("teenyc_cache-" + std::to_string(surroundings_.user)));
}

TEST_F(Location, BothTakenIsAnErrorThatSaysWhatToDo) {
  const std::string shared = (root_.path() / "tmp" / "teenyc_cache").string();
  for (const std::string& path : {shared, shared + "-" + std::to_string(surroundings_.user)}) {
    fs::create_directories(path);
    ::chmod(path.c_str(), 0777);
  }
  try {
    static_cast<void>(default_cache_dir(surroundings_));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::environment);
    EXPECT_NE(error.next().find("TEENYC_CACHE_DIR"), std::string::npos);
  }
}

TEST_F(Location, APackageIsKnownByItsManifest) {
  EXPECT_FALSE(package_root(surroundings_.executable));
  fs::create_directories(root_.path() / "app" / "conf");
  write_file(root_.path() / "app" / "conf" / "manifest.json", "{}");
  EXPECT_EQ(package_root(surroundings_.executable),
            surroundings_.executable.parent_path().parent_path());
}

TEST(ThisBuild, HasNoCacheBesideItsPrograms) {
  // A development build must not find one: its kernels would then never be looked for elsewhere.
  EXPECT_FALSE(cache_beside(executable_path()));
  EXPECT_FALSE(cache_beside(fs::path(TEENY_BUILD_DIR) / "bin" / "program"));
}

}  // namespace
}  // namespace teeny

#include "tool/project/project_file.hpp"

#include <gtest/gtest.h>

#include "tool/commands/project_defaults.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"

namespace fs = std::filesystem;
using namespace teeny;
using namespace teeny::tool;

namespace {

const std::string good = R"([package]
target = "jetson-orin-nano@6.2"
devices = ["cpu", { device = "cuda", options = "capability=sm_87,ptx-version=82" }]
bins = ["app"]
examples = ["small one"]
data = ["data/a b.png"]
dest = "out é"

[deploy]
hosts = ["nvidia@orin", "orin-2"]
dest = "/opt/app"
package = "../elsewhere"
)";

Error error_of(const std::string& text) {
  try {
    static_cast<void>(parse_project_file(text, "/a b/teeny.toml"));
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error for:\n" << text;
  return {ErrorKind::internal, ""};
}

void expect_error(const std::string& text, const std::vector<std::string>& parts) {
  const Error error = error_of(text);
  EXPECT_EQ(error.exit_code(), 2);
  for (const auto& part : parts) {
    EXPECT_NE(error.message().find(part), std::string::npos) << part << "\nin: " << error.message();
  }
}

/// A project with an é and a space in its path, and a directory in it to stand in.
struct Place {
  explicit Place(const std::string& text) {
    fs::create_directories(inside);
    write_file(root / "CMakeLists.txt", "project(demo)\n");
    if (!text.empty()) write_file(root / ProjectFile::name, text);
  }
  TemporaryDirectory directory{"my projé ct"};
  fs::path root = directory.path();
  fs::path inside = root / "src" / "deep";
};

template <class Function>
void expect_missing(const Function& ask, const std::vector<std::string>& parts) {
  try {
    static_cast<void>(ask());
    ADD_FAILURE() << "nothing was missing";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    const std::string text = error.what();
    for (const auto& part : parts) {
      EXPECT_NE(text.find(part), std::string::npos) << part << "\nin: " << text;
    }
  }
}

}  // namespace

TEST(ProjectFile, ReadsEveryKey) {
  const ProjectFile file = parse_project_file(good, "/a b/teeny.toml");
  EXPECT_EQ(file.package.target, "jetson-orin-nano@6.2");
  ASSERT_EQ(file.package.devices.size(), 2U);
  EXPECT_EQ(file.package.devices[0].device, "cpu");
  EXPECT_EQ(file.package.devices[0].options, std::nullopt);
  EXPECT_EQ(file.package.devices[1].device, "cuda");
  EXPECT_EQ(file.package.devices[1].options, "capability=sm_87,ptx-version=82");
  EXPECT_EQ(file.package.bins, std::vector<std::string>{"app"});
  EXPECT_EQ(file.package.examples, std::vector<std::string>{"small one"});
  EXPECT_EQ(file.package.data, std::vector<std::string>{"data/a b.png"});
  EXPECT_EQ(file.package.destination, "out é");
  EXPECT_EQ(file.deploy.hosts, (std::vector<std::string>{"nvidia@orin", "orin-2"}));
  EXPECT_EQ(file.deploy.destination, "/opt/app");
  EXPECT_EQ(file.deploy.package, "../elsewhere");
  EXPECT_EQ(file.resolved("../elsewhere"), "/elsewhere");
  EXPECT_EQ(file.resolved("/x"), "/x");
  // Tables of devices in TOML's other spelling, and one host.
  const ProjectFile other = parse_project_file(
      "[deploy]\nhost = \"h\"\n[[package.devices]]\ndevice = \"cpu\"\n", "teeny.toml");
  ASSERT_EQ(other.package.devices.size(), 1U);
  EXPECT_EQ(other.deploy.hosts, std::vector<std::string>{"h"});
  EXPECT_EQ(parse_project_file("", "teeny.toml").package.target, std::nullopt);
}

TEST(ProjectFile, NamesLineColumnAndNearestKey) {
  expect_error("[package]\ntarget = 7\n", {"/a b/teeny.toml:2:10", "package.target", "7"});
  expect_error("[package]\n  tarjet = \"x\"\n", {":2:3", "package.tarjet", "did you mean target?"});
  expect_error("[pakage]\n", {":1:", "pakage", "did you mean package?"});
  expect_error("[package]\nspeed = 1\n", {":2:1", "package.speed", "known here: bins, data, dest"});
  expect_error("[package]\nbins = \"app\"\n", {":2:8", "package.bins", "list of texts"});
  expect_error("[package]\nbins = [\"a\", 1]\n", {":2:14", "package.bins", "found 1"});
  expect_error("[package]\nbins = [\"\"]\n", {"package.bins", "empty"});
  expect_error("[package]\ntarget = \"\"\n", {":2:", "package.target is empty"});
  expect_error("[package]\ndevices = [\"tpu\"]\n", {":2:12", "cuda and cpu", "tpu"});
  expect_error("[package]\ndevices = [3]\n", {":2:12", "package.devices", "found 3"});
  expect_error("[package]\ndevices = [{ options = \"x\" }]\n",
               {":2:12", "package.devices.device is missing"});
  expect_error("[package]\ndevices = [{ device = \"cpu\", option = \"x\" }]\n",
               {":2:30", "did you mean options?"});
  expect_error("[deploy]\nhost = \"a\"\nhosts = [\"b\"]\n", {":2:", "deploy.host", "hosts"});
  expect_error("deploy = 3\n", {":1:10", "deploy must be a table"});
  expect_error("[package]\ntarget = \n", {":2:", "not TOML"});
}

TEST(ProjectDefaults, GivesWhatACommandLineLeavesOut) {
  const Place place(good);
  const ProjectDefaults defaults("package", place.inside);
  EXPECT_EQ(defaults.target(""), "jetson-orin-nano@6.2");
  Selection selection;
  defaults.add_programs(selection);
  EXPECT_EQ(selection.bins, std::vector<std::string>{"app"});
  EXPECT_EQ(selection.examples_named, std::vector<std::string>{"small one"});
  const auto devices = defaults.devices({});
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[1].options, "capability=sm_87,ptx-version=82");
  // Its paths are seen from where it lies, whatever directory one stands in.
  EXPECT_EQ(defaults.data({}), std::vector<std::string>{(place.root / "data/a b.png").string()});
  EXPECT_EQ(defaults.destination(std::nullopt), (place.root / "out é").string());
  EXPECT_EQ(defaults.hosts({}), (std::vector<std::string>{"nvidia@orin", "orin-2"}));
  EXPECT_EQ(defaults.board_destination(""), "/opt/app");
  EXPECT_EQ(defaults.package(""), (place.root.parent_path() / "elsewhere").string());
  expect_missing([&] { return defaults.host(""); }, {"--host", "nvidia@orin, orin-2"});
  const Place board("[package]\ntarget = \"boards/mine.toml@1\"\n");
  EXPECT_EQ(ProjectDefaults("build", board.root).target(""),
            (board.root / "boards/mine.toml@1").string());
}

TEST(ProjectDefaults, TheCommandLineWins) {
  const Place place(good);
  const ProjectDefaults defaults("package", place.inside);
  EXPECT_EQ(defaults.target("h200-server"), "h200-server");
  Selection selection;
  selection.examples_named = {"mine"};
  defaults.add_programs(selection);
  EXPECT_TRUE(selection.bins.empty());
  EXPECT_EQ(selection.examples_named, std::vector<std::string>{"mine"});
  ASSERT_EQ(defaults.devices({{"cuda"}}).size(), 1U);
  EXPECT_EQ(defaults.devices({{"cuda"}})[0].options, std::nullopt);
  EXPECT_EQ(defaults.data({"x"}), std::vector<std::string>{"x"});
  EXPECT_EQ(defaults.destination("y"), "y");
  EXPECT_EQ(defaults.hosts({"z"}), std::vector<std::string>{"z"});
  EXPECT_EQ(defaults.host("z"), "z");
  EXPECT_EQ(defaults.board_destination("d"), "d");
  EXPECT_EQ(defaults.package("p"), "p");
}

TEST(ProjectDefaults, NamesFlagAndKeyOfWhatIsMissing) {
  const Place empty("[package]\n");
  const std::string file = (empty.root / ProjectFile::name).string();
  const ProjectDefaults of_empty("package", empty.inside);
  Selection selection;
  expect_missing([&] { return of_empty.target(""); },
                 {"--target", "no target under [package]", file});
  expect_missing([&] { return of_empty.devices({}); }, {"--device", "devices = [", file});
  expect_missing([&] { return of_empty.hosts({}); }, {"--host", "under [deploy]", file});
  expect_missing([&] { return of_empty.package(""); }, {"--package", "package = ", "[deploy]"});
  expect_missing(
      [&] {
        of_empty.add_programs(selection);
        return 0;
      },
      {"--bin N or --example N", "bins = ", file});
  EXPECT_EQ(of_empty.package_if_any(std::nullopt), std::nullopt);
  const Place none("");
  expect_missing([&] { return ProjectDefaults("build", none.inside).target(""); },
                 {"--target", "the project has no " + (none.root / ProjectFile::name).string()});
  expect_missing([&] { return ProjectDefaults("build", "/proc").target(""); },
                 {"--target", "no project here"});
}

TEST(ProjectDefaults, FindsThePackageOfTheProject) {
  const Place place("[package]\ntarget = \"jetson-orin-nano\"\n");
  const ProjectDefaults defaults("deploy", place.root);
  const fs::path packages = place.root / "build" / "package" / "jetson-orin-nano";
  expect_missing([&] { return defaults.package(""); }, {"none in", "teeny package", "--package"});
  const auto make = [&](const char* name) {
    fs::create_directories(packages / name / "conf");
    write_file(packages / name / "conf" / "manifest.json", "{}");
  };
  make("app");
  make(".being-written");
  EXPECT_EQ(defaults.package(""), (packages / "app").string());
  make("other");
  expect_missing([&] { return defaults.package(""); }, {"holds app, other", "--package"});
  write_file(place.root / ProjectFile::name,
             "[package]\ntarget = \"jetson-orin-nano\"\nbins = [\"other\"]\n");
  EXPECT_EQ(ProjectDefaults("deploy", place.root).package(""), (packages / "other").string());
  write_file(place.root / ProjectFile::name, "[package]\ndest = \"there\"\n");
  EXPECT_EQ(ProjectDefaults("deploy", place.root).package(""), (place.root / "there").string());
}

#include "tool/commands/programs.hpp"

#include "tool/installation.hpp"

#include "teeny/base/process.hpp"

namespace teeny::tool {

AotResult run_aot_program(const AotRun& aot) {
  std::vector<std::string> words = {aot.program.string()};
  const auto devices = forwarded(aot.devices);
  words.insert(words.end(), devices.begin(), devices.end());
  if (aot.cache_directory) words.insert(words.end(), {"--cache-dir", *aot.cache_directory});
  if (aot.force) words.emplace_back("--force");
  Command command{words};
  command.environment["TEENYC_PATH"] = teenyc_path().string();
  command.capture_output = aot.capture_output;
  command.capture_error = false;
  auto result = run(command);
  return {result.exit_code, std::move(result.output)};
}

}  // namespace teeny::tool

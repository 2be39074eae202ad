#include "tool/commands/selection.hpp"

#include <CLI/CLI.hpp>

namespace teeny::tool {

void add_selection(CLI::App& command, Selection& selection, bool all_examples) {
  auto* bin = command.add_option("--bin", selection.bins, "a program of the project; may repeat")
                  ->allow_extra_args(false)
                  ->type_name("N");
  auto* example =
      command
          .add_option("--example", selection.examples_named, "a program defined under examples/")
          ->allow_extra_args(false)
          ->type_name("N");
  example->excludes(bin);
  if (all_examples) {
    command.add_flag("--examples", selection.all_examples, "every program under examples/")
        ->excludes(bin)
        ->excludes(example);
  }
  command.add_option("-p,--package", selection.package, "a project() of a super-build")
      ->type_name("P");
  command.add_flag("--no-release", selection.no_release, "with debug information, not optimised");
  command.add_option("--features", selection.features, "CMake options to switch on: A,B")
      ->type_name("LIST");
}

void add_target(CLI::App& command, std::string& target) {
  command.add_option("--target", target, "a board, BOARD@GENERATION, or a board file")
      ->required()
      ->type_name("BOARD");
}

}  // namespace teeny::tool

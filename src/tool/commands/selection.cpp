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

void add_toolchain(CLI::App& command, Selection& selection) {
  command
      .add_option("--sysroot", selection.sysroot,
                  "a copy of the board's libraries, made by `teeny sysroot`; default "
                  "build/sysroot/BOARD@GENERATION, where it is there")
      ->type_name("DIR");
  command
      .add_option("--cuda-path", selection.cuda_path,
                  "CUDA's headers and stubs for the board: a toolkit, or one of its targets/ "
                  "folders; default /usr/local/cuda, where it has them")
      ->type_name("DIR");
  command
      .add_option("--container", selection.container,
                  "build in a container with the toolchain: podman or docker; alone: the one that "
                  "is there")
      ->expected(0, 1)
      ->default_str("any")
      ->type_name("ENGINE");
}

void add_target(CLI::App& command, std::string& target) {
  command.add_option("--target", target, "a board, BOARD@GENERATION, or a board file")
      ->type_name("BOARD");
}

}  // namespace teeny::tool

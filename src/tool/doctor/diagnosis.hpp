#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "teeny/cache/assembler_client.hpp"
#include "teeny/target/board.hpp"

namespace teeny::tool {

/// A program that teeny starts, and what it is needed for.
struct ToolRow {
  std::string name;   ///< "cmake"
  std::string usage;  ///< "to build projects"
  std::optional<std::filesystem::path> program = {};
  std::string version = {};  ///< first line of what it says; empty where it is not asked
  bool needed = true;
};

/// One assembler and what it is good for.
struct AssemblerRow {
  Assembler assembler;
  std::optional<PtxVersion> highest_ptx;
  std::vector<std::string> capabilities;  ///< known ones that it assembles
  std::vector<int> elf_abis;              ///< ABI versions that it writes, ascending
  DriverVersion oldest_driver;            ///< that loads its code
  std::vector<std::string> boards;        ///< shipped generations that it would be chosen for
};

/// What is missing or broken, and how to get it.
struct Problem {
  std::string what;
  std::string next;
};

struct CompilerRow {
  std::filesystem::path program;
  std::string version;   ///< what --version says
  std::string identity;  ///< 64 digits
};

/// What this installation can do for `boards`.
struct Diagnosis {
  std::optional<CompilerRow> compiler = {};
  std::vector<AssemblerRow> assemblers = {};
  std::vector<UnusableAssembler> unusable = {};
  std::vector<ToolRow> tools = {};
  std::vector<Problem> problems = {};  ///< of what is needed
};

/// The rows of what was found, and a problem for each generation of a board with a CUDA device that
/// none of it serves.
void diagnose_assemblers(const FoundAssemblers& found, const std::vector<Board>& boards,
                         Diagnosis& diagnosis);
/// The programs that building, packaging and deploying start; a compiler for each triple.
void diagnose_tools(const std::vector<Board>& boards, Diagnosis& diagnosis);
/// teenyc beside the tool.
void diagnose_compiler(Diagnosis& diagnosis);

/// For people, and as JSON (schema "teeny-doctor/1"; paths that are not UTF-8 with %XX).
[[nodiscard]] std::string as_text(const Diagnosis& diagnosis);
[[nodiscard]] std::string as_json(const Diagnosis& diagnosis);

}  // namespace teeny::tool

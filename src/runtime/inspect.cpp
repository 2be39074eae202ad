#include "inspect.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "holdings.hpp"
#include "places.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/text.hpp"
#include "teeny/cache/location.hpp"
#include "teeny/cache/package.hpp"
#include "teeny/ir/text.hpp"
#include "teeny/target/board_json.hpp"

namespace fs = std::filesystem;

namespace teeny::detail {

namespace {

constexpr std::size_t least_fingerprint_digits = 8;

bool is_meant(const Holding& holding, const std::string& which) {
  const KernelInstance& instance = *holding.instance;
  if (which == instance.name || which == instance.readable || which == label(instance) ||
      which == instance.record_key()) {
    return true;
  }
  return which.size() >= least_fingerprint_digits && holding.traced &&
         holding.traced->fingerprint.compare(0, which.size(), which) == 0;
}

void row(const char* name, const std::string& value) { fmt::print("  {:<13}{}\n", name, value); }

std::string or_unknown(int value) { return value < 0 ? "unknown" : std::to_string(value); }

std::string list_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

// This machine's devices, and the board of the package that this program lies in.
std::vector<Place> places_of_interest() {
  std::vector<Place> places;
  for (const DeviceKind kind : {DeviceKind::cuda, DeviceKind::cpu}) {
    try {
      std::string why;
      for (Place& place : places_here(kind, &why)) places.push_back(std::move(place));
    } catch (const Error& error) {
      log(LogLevel::warning, error.message());
    }
  }
  const auto root = package_root(executable_path());
  if (!root) return places;
  const fs::path file = *root / PackageContents::board_path;
  if (const auto text = read_file_if_exists(file)) {
    const Board board = board_from_json(*text, file.string());
    for (const DeviceKind kind : {DeviceKind::cuda, DeviceKind::cpu}) {
      places.push_back(place_on(board, kind));
    }
  }
  return places;
}

void print_places(const ArtifactInfo& info, const std::vector<Place>& places) {
  const char* name = "loads on";
  for (const Place& place : places) {
    if (place.kind != device_kind(info)) continue;
    const Verdict verdict = judge(info, place);
    const auto memory = verdict.fits ? memory_problem(info, place) : std::nullopt;
    row(name,
        fmt::format("{} ({}): {}{}", place.name, place.description,
                    verdict.fits && !memory ? "yes: " : "no: ", memory ? *memory : verdict.text));
    name = "";
  }
}

void print_artifact(const HeldArtifact& held, const std::vector<Place>& places) {
  fmt::print("\nartifact {}\n", held.name);
  if (!held.artifact) {
    row("problem", held.problem);
    return;
  }
  const ArtifactInfo& info = held.artifact->info;
  row("form", form_of(info));
  row("target", info.target);
  row("size", fmt::format("{} bytes, {} of them code", held.bytes, held.artifact->code.size()));
  row("launch ABI", std::to_string(info.launch_abi));
  row("parameters", list_of(info.parameters));
  if (info.kind != ArtifactKind::shared_object) {
    if (info.ptx_version) row("PTX version", info.ptx_version->name());
    row("assembler", info.assembler.empty() ? "none: the driver's compiler" : info.assembler);
    if (info.kind == ArtifactKind::cubin) {
      row("ELF ABI", info.elf_abi ? std::to_string(*info.elf_abi) : "unknown");
      row("registers", or_unknown(info.registers));
      row("spilled", info.spill_bytes < 0 ? "unknown" : or_unknown(info.spill_bytes) + " bytes");
    }
    row("threads", std::to_string(info.threads));
    row("shared", std::to_string(info.shared_bytes) + " bytes dynamic, " +
                      std::to_string(info.static_shared_bytes) + " static");
  } else {
    row("scratch", std::to_string(info.scratch_bytes) + " bytes a thread");
  }
  row("compiler", "teenyc " + info.compiler);
  print_places(info, places);
  if (info.kind == ArtifactKind::ptx) fmt::print("\n{}\n", trim(held.artifact->code));
}

void print_kernel(const Holding& holding, const std::vector<Place>& places) {
  const KernelInstance& instance = *holding.instance;
  fmt::print("kernel {}\n", instance.name);
  row("type", instance.readable);
  row("members", instance.members.empty() ? "none" : instance.members);
  std::vector<std::string> types;
  for (const ir::Type& type : instance.signature) types.push_back(ir::to_string(type));
  row("parameters", list_of(types));
  row("record key", instance.nameable ? instance.record_key() : "none: found by its fingerprint");
  if (holding.traced) {
    row("fingerprint", holding.traced->fingerprint);
  } else {
    row("fingerprint", "none, it does not trace: " + holding.trace_problem);
  }
  if (holding.record != nullptr) {
    const bool same = holding.traced && holding.traced->fingerprint == holding.record->fingerprint;
    row("record", same ? "of that fingerprint" : "of fingerprint " + holding.record->fingerprint);
  }
  if (holding.traced) fmt::print("\n{}", ir::print(holding.traced->kernel));
  if (holding.artifacts.empty()) fmt::print("\nno artifact in {}\n", cache_directory().string());
  for (const HeldArtifact& held : holding.artifacts) print_artifact(held, places);
}

}  // namespace

int inspect_kernel(const std::string& which) {
  const auto sources = kernel_sources();
  const std::vector<Holding> all = holdings(*sources);
  std::vector<const Holding*> meant;
  std::string known;
  for (const Holding& holding : all) {
    if (is_meant(holding, which)) meant.push_back(&holding);
    known += "\n  " + label(*holding.instance);
  }
  if (meant.empty()) {
    throw Error(ErrorKind::usage,
                "--inspect " + which + ": wanted a kernel of this program, found none of that name",
                all.empty() ? "this program has no kernels" : "its kernels are" + known);
  }
  const std::vector<Place> places = places_of_interest();
  for (std::size_t i = 0; i < meant.size(); ++i) {
    if (i != 0) fmt::print("\n");
    print_kernel(*meant[i], places);
  }
  return 0;
}

}  // namespace teeny::detail

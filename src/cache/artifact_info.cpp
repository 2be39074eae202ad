#include "teeny/cache/artifact_info.hpp"

#include <nlohmann/json.hpp>

#include "teeny/base/error.hpp"

namespace teeny {
namespace {

using nlohmann::json;

ArtifactKind parse_kind(const std::string& text) {
  for (const auto kind : {ArtifactKind::ptx, ArtifactKind::cubin, ArtifactKind::shared_object}) {
    if (text == extension(kind)) return kind;
  }
  throw Error(ErrorKind::input, "an artifact's description names the unknown kind \"" + text + "\"",
              "compile the kernel again");
}

}  // namespace

std::string info_to_json(const ArtifactInfo& info) {
  json object = {{"format", artifact_info_format},
                 {"kind", extension(info.kind)},
                 {"kernel", info.kernel},
                 {"fingerprint", info.fingerprint},
                 {"key", info.key},
                 {"target", info.target},
                 {"compiler", info.compiler},
                 {"parameters", info.parameters},
                 {"launch_abi", info.launch_abi},
                 {"threads", info.threads}};
  if (!info.assembler.empty()) object["assembler"] = info.assembler;
  if (info.capability) object["capability"] = info.capability->name();
  if (info.ptx_version) object["ptx_version"] = info.ptx_version->name();
  if (info.shared_bytes != 0) object["shared_bytes"] = info.shared_bytes;
  if (info.static_shared_bytes != 0) object["static_shared_bytes"] = info.static_shared_bytes;
  if (info.scratch_bytes != 0) object["scratch_bytes"] = info.scratch_bytes;
  if (info.elf_abi) object["elf_abi"] = *info.elf_abi;
  if (info.registers >= 0) object["registers"] = info.registers;
  if (info.spill_bytes >= 0) object["spill_bytes"] = info.spill_bytes;
  if (info.compile_ms > 0) object["compile_ms"] = info.compile_ms;
  return object.dump(-1, ' ', true, json::error_handler_t::replace);
}

ArtifactInfo info_from_json(std::string_view text) {
  const auto bad = [](const std::string& why) {
    return Error(ErrorKind::input, "an artifact's description cannot be read: " + why,
                 "compile the kernel again");
  };
  try {
    const json object = json::parse(text);
    const int format = object.at("format").get<int>();
    if (format > artifact_info_format) {
      throw Error(ErrorKind::input,
                  "an artifact's description is of format " + std::to_string(format) +
                      "; this program reads up to " + std::to_string(artifact_info_format),
                  "compile it with the teeny that this program was built with");
    }
    ArtifactInfo info;
    info.kind = parse_kind(object.at("kind").get<std::string>());
    object.at("kernel").get_to(info.kernel);
    object.at("fingerprint").get_to(info.fingerprint);
    object.at("key").get_to(info.key);
    object.at("target").get_to(info.target);
    object.at("compiler").get_to(info.compiler);
    object.at("parameters").get_to(info.parameters);
    object.at("launch_abi").get_to(info.launch_abi);
    object.at("threads").get_to(info.threads);
    info.assembler = object.value("assembler", "");
    if (object.contains("capability")) {
      const auto name = object["capability"].get<std::string>();
      info.capability = Capability::parse(name);
      if (!info.capability) throw bad("capability \"" + name + "\"");
    }
    if (object.contains("ptx_version")) {
      const auto name = object["ptx_version"].get<std::string>();
      info.ptx_version = PtxVersion::parse(name);
      if (!info.ptx_version) throw bad("ptx_version \"" + name + "\"");
    }
    info.shared_bytes = object.value("shared_bytes", std::uint64_t{0});
    info.static_shared_bytes = object.value("static_shared_bytes", std::uint64_t{0});
    info.scratch_bytes = object.value("scratch_bytes", std::uint64_t{0});
    if (object.contains("elf_abi")) info.elf_abi = object["elf_abi"].get<int>();
    info.registers = object.value("registers", -1);
    info.spill_bytes = object.value("spill_bytes", -1);
    info.compile_ms = object.value("compile_ms", 0.0);
    return info;
  } catch (const json::exception& error) {
    throw bad(error.what());
  }
}

}  // namespace teeny

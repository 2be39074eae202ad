#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "target/host_cpu.hpp"
#include "tool/package/elf_check.hpp"
#include "tool/preflight/l4t.hpp"
#include "tool/preflight/probe.hpp"

#include "teeny/base/text.hpp"

namespace teeny::tool {

namespace {

using nlohmann::json;

// What follows the last "version " or blank and is a dotted number: "... stable release version
// 2.36." and "glibc 2.36" say 2.36.
std::string dotted_number(const std::string& text) {
  std::string last;
  for (auto word : split(text, ' ')) {
    while (!word.empty() && word.back() == '.') word.pop_back();
    const auto parts = split(word, '.');
    const bool number =
        parts.size() == 2 && std::all_of(parts.begin(), parts.end(),
                                         [](const auto& part) { return parse_unsigned(part); });
    if (number) last = word;
  }
  return last;
}

// A board file's name: of a-z, 0-9, '-', '.' and '_', and no option or hidden file.
std::string plain_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool plain = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9') ||
                       lower == '.' || lower == '_';
    name += plain ? lower : '-';
  }
  name.erase(0, name.find_first_not_of(".-_"));
  return name;
}

class Reader {
 public:
  Reader(const ProbeAnswers& answers, const std::vector<Board>& boards)
      : answers_(answers), boards_(boards) {}

  BoardFacts read(const std::string& host) {
    const std::string name = plain_name(host.substr(host.find('@') + 1));
    board().name = name.empty() ? "board" : name;
    board().generations.emplace_back();
    read_machine();
    read_release();
    read_libraries();
    read_cpu();
    read_gpu();
    read_memory();
    facts_.destination = first("destination");
    if (const auto kib = number("disk_free")) {
      facts_.disk_free = *kib * 1024;
      facts_.from.disk = Origin::probed;
    }
    return std::move(facts_);
  }

 private:
  Board& board() { return facts_.board; }
  BoardGeneration& generation() { return facts_.board.generations.front(); }

  [[nodiscard]] std::string first(const std::string& key) const {
    const auto at = answers_.values.find(key);
    return at == answers_.values.end() || at->second.empty() ? "" : at->second.front();
  }
  [[nodiscard]] std::vector<std::string> all(const std::string& key) const {
    const auto at = answers_.values.find(key);
    return at == answers_.values.end() ? std::vector<std::string>{} : at->second;
  }
  [[nodiscard]] std::optional<std::uint64_t> number(const std::string& key) const {
    return parse_unsigned(first(key));
  }

  // What all boards of the same release agree on.
  template <class Get>
  auto agreed(Get get) const -> std::optional<decltype(get(std::declval<const Board&>()))> {
    if (kin_.empty()) return std::nullopt;
    const auto value = get(kin_.front());
    for (const Board& board : kin_) {
      if (get(board) != value) return std::nullopt;
    }
    return value;
  }

  void read_machine() {
    const std::string machine = first("machine");
    if (machine.empty()) return;
    board().triple = machine + "-linux-gnu";
    facts_.from.machine = Origin::probed;
    if (machine == "aarch64" || machine == "x86_64") facts_.has_loader = !first("loader").empty();
  }

  void read_release() {
    generation().os = first("os_PRETTY_NAME");
    board().description = first("model").empty() ? generation().os : first("model");
    std::string name = first("os_ID") + "-" + first("os_VERSION_ID");
    if (const auto l4t = parse_l4t(first("l4t"))) {
      generation().l4t = *l4t;
      facts_.from.l4t = Origin::probed;
      kin_ =
          boards_of_device_tree(first("compatible"), first("model"), boards_of_l4t(*l4t, boards_));
      if (kin_.empty()) {
        facts_.remarks.push_back("no shipped board file has a generation of L4T " + *l4t +
                                 "; only the board itself can say what it has");
      }
      name = agreed([](const Board& one) { return one.chosen().name; }).value_or(*l4t);
    }
    name = plain_name(name);
    generation().name = name.empty() ? "live" : name;
    board().sysroot_directories = agreed([](const Board& one) {
                                    return one.sysroot_directories;
                                  }).value_or(sysroot_of_kind());
  }

  // Of a machine that is no Jetson: what any board of its triple has.
  [[nodiscard]] std::vector<std::string> sysroot_of_kind() const {
    for (const Board& one : boards_) {
      if (one.triple == facts_.board.triple && !one.capability) return one.sysroot_directories;
    }
    return {};
  }

  void read_libraries() {
    generation().glibc = dotted_number(first("libc"));
    if (!generation().glibc.empty()) facts_.from.glibc = Origin::probed;
    for (const auto& version : all("glibcxx")) {
      const std::string number = version.substr(version.find('_') + 1);
      if (compare_versions(number, generation().glibcxx) > 0) generation().glibcxx = number;
    }
    if (!generation().glibcxx.empty()) facts_.from.glibcxx = Origin::probed;
    auto libraries = all("library");
    if (libraries.empty()) return;
    if (!first("libcuda").empty()) libraries.emplace_back("libcuda.so.1");
    facts_.libraries = std::move(libraries);
  }

  void read_cpu() {
    if (board().triple.rfind("x86_64", 0) == 0) return read_x86();
    std::string cpuinfo;
    for (const auto& line : all("cpuinfo")) cpuinfo += line + "\n";
    if (!cpuinfo.empty()) {
      board().cpu = detail::arm_cpu(cpuinfo);
      facts_.from.cpu = Origin::probed;
      facts_.cpu_features = split(first("features"), ' ');
    } else if (const auto cpu = agreed([](const Board& one) { return one.cpu; })) {
      board().cpu = *cpu;
      facts_.from.cpu = Origin::l4t_table;
    }
  }

  void read_x86() {
    const auto words = split(first("features"), ' ');
    const std::set<std::string> flags(words.begin(), words.end());
    if (flags.count("fpu") == 0) return;
    const auto has = [&flags](const char* flag) { return flags.count(flag) != 0; };
    const bool avx512 =
        has("avx512f") && has("avx512bw") && has("avx512cd") && has("avx512dq") && has("avx512vl");
    board().cpu = detail::x86_level({has("avx2"), has("fma"), has("bmi1"), has("bmi2"), has("f16c"),
                                     has("abm"), has("movbe"), avx512});
    if (board().cpu.empty()) board().cpu = "x86-64";
    facts_.from.cpu = Origin::probed;
    facts_.cpu_features = words;
  }

  // --- the CUDA device ---

  void read_gpu() {
    const bool asked = read_device_facts();
    if (facts_.from.gpu == Origin::unknown) read_nvidia_smi();
    if (facts_.from.gpu == Origin::unknown || facts_.from.driver == Origin::unknown) read_table();
    const bool no_driver = asked || first("libcuda").empty();
    if (facts_.from.gpu == Origin::unknown && no_driver && generation().l4t.empty()) {
      facts_.from.gpu = facts_.from.driver = Origin::probed;  // there is none
    }
    if (!board().capability) return;
    const CapabilityInfo* info = find_capability(*board().capability);
    if (board().shared_memory_kib == 0 && info != nullptr) {
      board().shared_memory_kib = info->max_shared_per_block_kib;
    }
    if (generation().driver) generation().ptx_ceiling = ptx_ceiling(*generation().driver);
    // Arm servers are of one kind, whatever their driver; a Jetson's file says which it is.
    const bool x86 = board().triple.rfind("x86_64", 0) == 0;
    board().cuda_target_directory = agreed([](const Board& one) {
                                      return one.cuda_target_directory;
                                    }).value_or(x86 ? "x86_64-linux" : "sbsa-linux");
    if (board().multiprocessors == 0) {
      board().multiprocessors =
          agreed([](const Board& one) { return one.multiprocessors; }).value_or(0);
    }
    board().bandwidth_gbps =
        agreed([](const Board& one) { return one.bandwidth_gbps; }).value_or(0);
  }

  // What a program on the board heard from the driver; whether one was asked.
  bool read_device_facts() {
    if (!answers_.not_asked.empty()) {
      facts_.remarks.push_back("the board's CUDA driver was not asked: " + answers_.not_asked);
    }
    if (answers_.device_facts.empty()) return false;
    try {
      const json root = json::parse(answers_.device_facts);
      const json& devices = root.at("devices");
      if (devices.empty()) {
        facts_.remarks.push_back("no CUDA device answers there: " +
                                 root.value("why_none", std::string("no reason given")));
        return true;
      }
      const json& device = devices.front();
      const auto capability = Capability::parse(device.at("capability").get<std::string>());
      const auto driver = DriverVersion::parse(device.at("driver").get<std::string>());
      if (!capability || !driver) return true;
      board().capability = capability;
      generation().driver = driver;
      device.at("integrated").get_to(board().integrated);
      board().shared_memory_kib =
          static_cast<int>(device.at("shared_bytes").get<std::uint64_t>() / 1024);
      board().multiprocessors = device.value("multiprocessors", 0);
      if (device.contains("memory_total")) {
        device_memory_ = {device.at("memory_free").get<std::uint64_t>(),
                          device.at("memory_total").get<std::uint64_t>()};
      }
      facts_.from.gpu = facts_.from.driver = Origin::probed;
      if (devices.size() > 1) {
        facts_.remarks.push_back(
            "of its " + std::to_string(devices.size()) +
            " CUDA devices the first is looked at: " + device.at("description").get<std::string>());
      }
    } catch (const json::exception& error) {
      facts_.remarks.push_back(std::string("the program's answer cannot be read: ") + error.what());
      return false;
    }
    return true;
  }

  // "12.6" and "8.9, 24564"; on Jetsons some of it is "N/A".
  void read_nvidia_smi() {
    if (const auto driver = DriverVersion::parse(first("smi_cuda"))) {
      generation().driver = driver;
      facts_.from.driver = Origin::probed;
    }
    const auto parts = split(first("smi_gpu"), ',');
    const auto capability = Capability::parse(trim(parts.front()));
    const CapabilityInfo* info = capability ? find_capability(*capability) : nullptr;
    if (info == nullptr) return;
    board().capability = capability;
    board().integrated = info->integrated;
    facts_.from.gpu = Origin::probed;
    if (parts.size() < 2) return;
    if (const auto mib = parse_unsigned(trim(parts[1]))) {
      device_memory_ = {*mib << 20U, *mib << 20U};
    }
  }

  void read_table() {
    const auto capability = agreed([](const Board& one) { return one.capability; });
    const auto driver = agreed([](const Board& one) { return one.chosen().driver; });
    std::vector<std::string> taken;
    if (facts_.from.gpu == Origin::unknown && capability && *capability) {
      board().capability = *capability;
      board().integrated = kin_.front().integrated;
      facts_.from.gpu = Origin::l4t_table;
      taken.push_back((*capability)->name());
    }
    if (facts_.from.driver == Origin::unknown && driver && *driver) {
      generation().driver = *driver;
      facts_.from.driver = Origin::l4t_table;
      taken.push_back("driver " + (*driver)->name());
    }
    if (taken.empty()) return;
    facts_.remarks.push_back(join(taken, " and ") + " are what the board files say of L4T " +
                             generation().l4t + " (" + kin_.front().full_name() +
                             "); the driver itself was not heard");
  }

  void read_memory() {
    const bool own =
        facts_.from.gpu != Origin::unknown && board().capability && !board().integrated;
    if (own && device_memory_) {
      facts_.memory_available = device_memory_->first;
      facts_.memory_total = device_memory_->second;
    } else if (const auto total = number("mem_total"); total && !own) {
      facts_.memory_total = *total * 1024;
      if (const auto free = number("mem_available")) facts_.memory_available = *free * 1024;
    }
    if (!facts_.memory_total) return;
    facts_.from.memory = Origin::probed;
    board().memory_mib = static_cast<int>(*facts_.memory_total >> 20U);
  }

  const ProbeAnswers& answers_;
  const std::vector<Board>& boards_;
  std::vector<Board> kin_;  // shipped boards of the same L4T release, and the same chip
  std::optional<std::pair<std::uint64_t, std::uint64_t>> device_memory_;  // free, total
  BoardFacts facts_;
};

}  // namespace

BoardFacts facts_from(const ProbeAnswers& answers, const std::string& host,
                      const std::vector<Board>& boards) {
  return Reader(answers, boards).read(host);
}

}  // namespace teeny::tool

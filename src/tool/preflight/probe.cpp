#include "tool/preflight/probe.hpp"

#include "tool/boards/board_file.hpp"
#include "tool/package/elf.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/text.hpp"

namespace teeny::tool {

namespace {

// $1: destination. Prints lines KEY=VALUE. Only what BusyBox has, too. The C library is asked by
// its own loader, and libstdc++'s versions are names within it: neither needs a compiler's tools.
constexpr const char* probe_script = R"sh(
LC_ALL=C
export LC_ALL
cd || exit 3
say() { [ -z "$2" ] || printf '%s=%s\n' "$1" "$2"; }
machine=$(uname -m)
say machine "$machine"
for key in ID VERSION_ID PRETTY_NAME; do
  say "os_$key" "$(sed -n "s/^$key=//p" /etc/os-release 2>/dev/null | tr -d '"' | head -n 1)"
done
say l4t "$(head -n 1 /etc/nv_tegra_release 2>/dev/null)"
for key in model compatible; do
  [ -r "/proc/device-tree/$key" ] && say "$key" "$(tr '\0' ' ' <"/proc/device-tree/$key")"
done
sed -n -e '/^CPU implementer/s/^/cpuinfo=/p' -e '/^CPU part/s/^/cpuinfo=/p' /proc/cpuinfo | head -n 1024
say features "$(sed -n -e 's/^Features[^:]*: *//p' -e 's/^flags[^:]*: *//p' /proc/cpuinfo | head -n 1)"
sed -n -e 's/^MemTotal: *\([0-9]*\) kB$/mem_total=\1/p' -e 's/^MemAvailable: *\([0-9]*\) kB$/mem_available=\1/p' /proc/meminfo
loader= libc= cxx= cuda=
case $machine in
  aarch64) loader=/lib/ld-linux-aarch64.so.1 ;;
  x86_64) loader=/lib64/ld-linux-x86-64.so.2 ;;
esac
for d in "/lib/$machine-linux-gnu" "/usr/lib/$machine-linux-gnu" /lib64 /usr/lib64 /lib /usr/lib; do
  [ -n "$libc" ] || [ ! -r "$d/libc.so.6" ] || [ ! -x "$loader" ] || libc=$("$loader" "$d/libc.so.6" 2>/dev/null </dev/null | head -n 1)
  [ -n "$cxx" ] || [ ! -r "$d/libstdc++.so.6" ] || cxx=$d/libstdc++.so.6
  for n in libcuda.so.1 nvidia/libcuda.so.1 tegra/libcuda.so.1; do
    [ -n "$cuda" ] || [ ! -e "$d/$n" ] || cuda=$d/$n
  done
done
[ -x "$loader" ] && say loader "$loader"
[ -n "$libc" ] || libc=$(getconf GNU_LIBC_VERSION 2>/dev/null)
say libc "$libc"
say libcuda "$cuda"
[ -z "$cxx" ] || tr '\0' '\n' <"$cxx" | grep -a -o '^GLIBCXX_3[.0-9]*' | sort -u | sed 's/^/glibcxx=/'
{ ldconfig -p || /sbin/ldconfig -p; } 2>/dev/null | sed -n 's/^[^a-zA-Z0-9]*\([^ ]*\) (.*/library=\1/p' | sort -u
if command -v nvidia-smi >/dev/null 2>&1; then
  say smi_cuda "$(nvidia-smi 2>/dev/null </dev/null | sed -n 's/.*CUDA Version: *\([0-9.]*\).*/\1/p' | head -n 1)"
  say smi_gpu "$(nvidia-smi --query-gpu=compute_cap,memory.total --format=csv,noheader,nounits 2>/dev/null </dev/null | head -n 1)"
fi
case $1 in /*) d=$1 ;; '') d=$(pwd) ;; *) d=$(pwd)/$1 ;; esac
say destination "$d"
while [ ! -d "$d" ]; do d=${d%/*}; [ -n "$d" ] || d=/; done
df -Pk "$d" 2>/dev/null | { read -r head; read -r name blocks used free rest; say disk_free "$free"; }
exit 0
)sh";

// Makes a private directory from which programs can be started, and prints it.
constexpr const char* place_script = R"sh(
for t in /dev/shm /tmp "${TMPDIR:-/tmp}"; do
  d=$(mktemp -d "$t/teeny-probe.XXXXXX" 2>/dev/null) || continue
  if printf '#!/bin/sh\nexit 0\n' >"$d/x" && chmod 700 "$d/x" && "$d/x" 2>/dev/null; then
    rm -f "$d/x"
    printf 'TEENY-PLACE=%s\n' "$d"
    exit 0
  fi
  rm -rf "$d"
done
exit 1
)sh";

// $1: that directory.
constexpr const char* ask_script = R"sh(
printf 'TEENY-OK\n'
"$1/program" --device-facts </dev/null
rc=$?
rm -rf "$1"
exit $rc
)sh";

constexpr const char* remove_script = R"sh(rm -rf "$1")sh";

// Programs of an earlier teeny would take the flag for a word of their own, and run.
bool knows_the_flag(const std::string& program) {
  return program.find("--device-facts") != std::string::npos;
}

std::string last_line(const std::string& text) {
  return std::string(trim(split(trim(text), '\n').back()));
}

// Removes the directory on the board, whatever became of the copy into it.
class PlaceOnBoard {
 public:
  explicit PlaceOnBoard(const Transport& transport) : transport_(transport) {
    const auto result = transport_.script(place_script, {});
    constexpr std::string_view label = "TEENY-PLACE=";
    const auto at = result.output.find(label);
    if (result.exit_code != 0 || at == std::string::npos) return;
    path_ = std::string(trim(std::string_view(result.output).substr(at + label.size())));
  }
  ~PlaceOnBoard() {
    try {
      if (!path_.empty()) static_cast<void>(transport_.script(remove_script, {path_}));
    } catch (...) {
      // The board is gone; its temporary directory goes with its next start.
    }
  }
  PlaceOnBoard(const PlaceOnBoard&) = delete;
  PlaceOnBoard& operator=(const PlaceOnBoard&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  void forget() noexcept { path_.clear(); }

 private:
  const Transport& transport_;
  std::string path_;
};

void ask_program(const Transport& transport, const std::string& name, const std::string& bytes,
                 ProbeAnswers& answers) {
  if (!knows_the_flag(bytes)) {
    answers.not_asked = name + " does not know --device-facts: it was built with an earlier teeny";
    return;
  }
  PlaceOnBoard place(transport);
  if (place.path().empty()) {
    answers.not_asked = "neither /dev/shm nor /tmp there takes a program";
    return;
  }
  const TemporaryDirectory local("teeny-probe");
  write_file(local.path() / "program", bytes, 0755);
  static_cast<void>(transport.send_tar(local.path(), place.path()));
  const auto result = transport.script(ask_script, {place.path()});
  const auto start = result.output.find("TEENY-OK\n");
  if (result.exit_code != 0 || start == std::string::npos) {
    const std::string said = last_line(result.error.empty() ? result.output : result.error);
    answers.not_asked = name + " ended with exit code " + std::to_string(result.exit_code) +
                        " there" + (said.empty() ? "" : ": " + said);
    return;
  }
  place.forget();  // the script has removed it
  answers.device_facts = last_line(result.output.substr(start));
}

ProbeAnswers ask_script_of(const Transport& transport, const std::string& destination) {
  ProbeAnswers answers;
  const std::string output =
      transport.require_script("looking at the board", probe_script, {destination});
  for (const auto& line : split(output, '\n')) {
    const auto equals = line.find('=');
    if (equals == std::string::npos) continue;
    answers.values[line.substr(0, equals)].emplace_back(
        trim(std::string_view(line).substr(equals + 1)));
  }
  return answers;
}

}  // namespace

BoardFacts probe(const Transport& transport, const ProbeRequest& request) {
  ProbeAnswers answers = ask_script_of(transport, request.destination);
  if (!request.program.empty()) {
    const std::string machine =
        answers.values["machine"].empty() ? "" : answers.values["machine"].front();
    const std::string bytes = read_file(request.program);
    const std::uint16_t elf = is_elf(bytes) ? read_elf(bytes, request.program.string()).machine : 0;
    const bool same =
        (machine == "aarch64" && elf == elf_aarch64) || (machine == "x86_64" && elf == elf_x86_64);
    if (same) {
      ask_program(transport, request.program.filename().string(), bytes, answers);
    } else {
      answers.not_asked = request.program.filename().string() + " is no program for " + machine;
    }
  }
  return facts_from(answers, transport.host(), shipped_boards());
}

}  // namespace teeny::tool

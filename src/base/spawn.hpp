#pragma once

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "descriptor.hpp"

#include "teeny/base/process.hpp"

namespace teeny::detail {

/// Where programs are looked for when there is no PATH.
inline constexpr std::string_view default_path = "/usr/local/bin:/usr/bin:/bin";

/// First executable regular file called `name` in the directories of `path`; a name with a slash
/// is looked up as it stands.
[[nodiscard]] std::optional<std::filesystem::path> find_on_path(std::string_view name,
                                                                std::string_view path);

/// A started child and our ends of its pipes, which do not block; those not asked for are closed.
struct Spawned {
  int pid = -1;
  Descriptor in;
  Descriptor out;
  Descriptor err;
};

/// Starts `command`. `own_group` makes the child the leader of a new process group; `all_pipes`
/// connects all three streams whatever the command says.
[[nodiscard]] Spawned spawn(const Command& command, bool pipe_input, bool own_group,
                            bool all_pipes = false);

/// SIGKILL to the child, and to its group where it leads one.
void kill_process(int pid, bool group) noexcept;

enum class ReadState { more, end };
/// Appends what can be read without waiting, at most 1 MiB. `end`: no writer is left (or the pipe
/// is closed).
ReadState append_available(const Descriptor& pipe, std::string& text);

/// Turns SIGPIPE of this thread into EPIPE while it lives, without touching the process's handler.
class SigpipeBlock {
 public:
  SigpipeBlock() noexcept;
  ~SigpipeBlock();
  SigpipeBlock(const SigpipeBlock&) = delete;
  SigpipeBlock& operator=(const SigpipeBlock&) = delete;

 private:
  sigset_t before_{};
  bool was_pending_ = false;
};

}  // namespace teeny::detail

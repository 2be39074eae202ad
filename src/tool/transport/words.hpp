#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace teeny::tool {

/// Takes a command as a user types it apart into words: blanks separate, '...' and "..." hold
/// blanks, a backslash outside '...' takes the next character as it is. Nothing else is special: no
/// variables, no patterns. Error(usage) naming `option` for a quote that does not end, or no words.
[[nodiscard]] std::vector<std::string> split_words(std::string_view option, std::string_view text);

/// One word for a POSIX shell, whatever bytes it holds (but zero). The one place where text is made
/// ready for the shell that ssh always starts on the far side.
[[nodiscard]] std::string quote_for_shell(std::string_view word);
/// The words quoted and joined: a command for ssh.
[[nodiscard]] std::string shell_command(const std::vector<std::string>& words);

/// The words as rsync's own splitter of -e reads them back: quotes hold blanks, and a quote within
/// quotes is doubled.
[[nodiscard]] std::string rsync_shell(const std::vector<std::string>& words);

}  // namespace teeny::tool

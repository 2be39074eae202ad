#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace teeny::tool {

// `DEST/history` on a board: the ids of the releases that `current` was pointed to, oldest first.
// It is written before the switch, so that an interrupted one leaves an entry too many and never
// one too few: entries after the last one of `current` did not come about.

/// The release that was in use before `current`, of those that are still there; empty: none on
/// record.
[[nodiscard]] std::string release_before(const std::vector<std::string>& history,
                                         const std::string& current,
                                         const std::vector<std::string>& there);

/// What the history becomes by pointing `current` to `id`.
[[nodiscard]] std::vector<std::string> history_after_deploy(std::vector<std::string> history,
                                                            const std::string& current,
                                                            const std::string& id);

/// What it becomes by going back to the release before, `id`: as if `current` had never been, so
/// that going back twice goes two releases back.
[[nodiscard]] std::vector<std::string> history_after_rollback(std::vector<std::string> history,
                                                              const std::string& current,
                                                              const std::string& id);

/// The releases that go away when `keep` of them stay: those longest out of use first, those that
/// were never in use before them. Neither the one in use nor the one before it is ever among them.
[[nodiscard]] std::vector<std::string> releases_to_remove(const std::vector<std::string>& history,
                                                          const std::string& current,
                                                          const std::vector<std::string>& there,
                                                          std::size_t keep);

}  // namespace teeny::tool

#include "tool/deploy/deployment.hpp"

#include <iostream>

#include "runtime/check.hpp"
#include "tool/deploy/history.hpp"
#include "tool/deploy/releases.hpp"
#include "tool/package/findings.hpp"
#include "tool/package/table.hpp"
#include "tool/preflight/preflight.hpp"
#include "tool/preflight/probe.hpp"

#include "teeny/base/digest.hpp"
#include "teeny/base/error.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/process.hpp"
#include "teeny/base/text.hpp"

namespace teeny::tool {

namespace {

std::string tail_of(const std::string& text, std::size_t count) {
  auto lines = split(trim(text), '\n');
  if (lines.size() > count) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(count));
  }
  return join(lines, "\n");
}

// What is to be on the board, whether it comes from here or is there already.
struct WantedRelease {
  std::string id;
  PackageContents manifest;
  std::vector<PackagedFile> files;
};

WantedRelease wanted_of(const LocalPackage& package) {
  return {package.id, package.manifest, package.files};
}

// A release that is on the board only, by its own manifest. Its id says that this is the one.
WantedRelease wanted_there(const Releases& releases, const std::string& id,
                           const std::string& host) {
  const std::string text = releases.read(id, PackageContents::path);
  if (sha256_hex(text) != id) {
    throw Error(ErrorKind::board,
                "the manifest of release " + short_id(id) + " on " + host + " is damaged",
                "deploy its package again with --overwrite", finding_code::incomplete);
  }
  WantedRelease wanted{id, PackageContents::from_json(text, host + ":" + releases.path_of(id)), {}};
  wanted.files = wanted.manifest.files;
  wanted.files.push_back({PackageContents::path, 0644, text.size(), id});
  return wanted;
}

void require_equal(const WantedRelease& wanted, const std::vector<PackagedFile>& found,
                   const std::string& next) {
  auto differences = compare_files(wanted.files, found);
  if (differences.empty()) return;
  constexpr std::size_t shown = 20;
  if (differences.size() > shown) {
    const auto more = differences.size() - shown;
    differences.resize(shown);
    differences.push_back("and " + std::to_string(more) + " more");
  }
  throw Error(ErrorKind::board,
              "what is on the board is not the package:\n  " + join(differences, "\n  "), next,
              finding_code::incomplete);
}

/// One board, and how far it has come: so that an error can say what it leaves behind.
class Deployment {
 public:
  Deployment(const Transport& transport, const std::string& destination)
      : transport_(transport), releases_(transport, destination) {}

  template <class Act>
  Deployed run(Act act) {
    try {
      return act(*this);
    } catch (const Error& error) {
      if (reached_ == Reached::no_board) throw;
      throw Error(error.kind(), error.message() + "\n" + state_left(error.exit_code()),
                  error.next(), error.exit_code());
    }
  }

  Deployed deploy(const LocalPackage& package, const DeployRules& rules);
  Deployed roll_back(bool dry_run);

 private:
  enum class Reached { no_board, looked, staged, switching };

  [[nodiscard]] const std::string& host() const { return transport_.host(); }
  void look(const std::string& id);
  void preflight(const LocalPackage& package, bool with_program) const;
  void send(const LocalPackage& package, Deployed& done);
  void check(const WantedRelease& wanted, const std::string& name) const;
  void switch_to(const std::string& id, const std::vector<std::string>& history);
  void clean_up(const DeployRules& rules, const std::string& id);
  void say_plan(const LocalPackage& package, const DeployRules& rules) const;
  [[nodiscard]] std::string in_use() const;
  [[nodiscard]] std::string state_left(int code);

  const Transport& transport_;
  Releases releases_;
  BoardState state_;
  std::string staged_;
  Reached reached_ = Reached::no_board;
};

std::string Deployment::in_use() const {
  return state_.current.empty() ? "there is no release in use on " + host()
                                : "the release in use on " + host() + ", " +
                                      short_id(state_.current) + ", is untouched";
}

std::string Deployment::state_left(int code) {
  if (reached_ == Reached::looked) return "nothing was changed on " + host();
  if (reached_ == Reached::staged) {
    const std::string kept = "what was copied stays in " + releases_.path_of(staged_) +
                             ", and the next deploy goes on from it";
    if (code != finding_code::space) return in_use() + "; " + kept;
    try {
      // A disk that is full is trouble for all that runs there.
      releases_.remove({staged_});
      return in_use() + "; what was copied is removed again";
    } catch (const Error&) {
      return in_use() + "; " + kept;
    }
  }
  try {
    const std::string now = releases_.look("").current;
    return "in use on " + host() + " now: " + (now.empty() ? "nothing" : short_id(now));
  } catch (const Error&) {
    return "whether the switch came about is not known: `" +
           transport_.typed(display({"readlink", state_.destination + "/current"})) + "` tells";
  }
}

void Deployment::look(const std::string& id) {
  log(LogLevel::notice, "looking at " + host());
  state_ = releases_.look(id);
  reached_ = Reached::looked;
}

void Deployment::preflight(const LocalPackage& package, bool with_program) const {
  ProbeRequest request{state_.destination, {}};
  if (with_program && !package.manifest.programs.empty()) {
    request.program = package.directory / "bin" / package.manifest.programs.front();
  }
  BoardFacts facts = probe(transport_, request);
  // What an earlier attempt left need not be found room for again.
  if (facts.disk_free) *facts.disk_free += state_.staged_kib * 1024;
  std::vector<std::string> notices = facts.remarks;
  auto findings = examine(package.directory, facts, &notices);
  if (!state_.unwritable.empty()) {
    findings.push_back({1,
                        "wanted to write into " + state_.unwritable + ", which the login on " +
                            host() + " may not, or its disk is read-only",
                        "name a --dest that it may write to, or make it once as root there and "
                        "give it to the login"});
  }
  for (const auto& notice : notices) log(LogLevel::notice, notice);
  throw_findings(findings, "the package does not fit the board:");
}

void Deployment::send(const LocalPackage& package, Deployed& done) {
  const bool with_rsync = state_.has_rsync && find_program("rsync").has_value();
  log(LogLevel::notice, std::string("copying by ") +
                            (with_rsync ? "rsync" : "tar (no rsync on both sides)") + ": " +
                            readable_size(package.size) +
                            (state_.staged_kib != 0 ? ", going on from an earlier attempt" : ""));
  staged_ = releases_.stage(package.id);
  reached_ = Reached::staged;
  // A damaged release of the same id must not lend its files.
  const std::string likest = state_.likest();
  const std::string like = likest == package.id ? "" : likest;
  done.sent = with_rsync ? releases_.copy_by_rsync(package.directory, staged_, like)
                         : releases_.copy_by_tar(package.directory, package.files, staged_, like);
  log(LogLevel::notice, readable_size(done.sent) + " sent; verifying on the board");
  require_equal(wanted_of(package), releases_.files(staged_), "deploy again");
}

void Deployment::check(const WantedRelease& wanted, const std::string& name) const {
  for (const auto& program : wanted.manifest.programs) {
    const auto result = releases_.check(name, program);
    const std::string word = std::string(detail::check_word) + " ";
    const bool began =
        result.output.rfind(word, 0) == 0 || result.output.find("\n" + word) != std::string::npos;
    if (began && result.exit_code == 0) {
      log(LogLevel::notice,
          program + "'s own check on " + host() + ": " + tail_of(result.output, 1));
      continue;
    }
    const std::string said = tail_of(trim(result.error).empty() ? result.output : result.error, 12);
    if (began) {
      const bool known = result.exit_code >= finding_code::capability &&
                         result.exit_code <= finding_code::unreachable;
      throw Error(ErrorKind::board,
                  program + "'s own check on " + host() + " ended with exit code " +
                      std::to_string(result.exit_code) + ":\n" + said,
                  {}, known ? result.exit_code : 1);
    }
    const bool library =
        said.find("GLIBC") != std::string::npos || said.find("shared librar") != std::string::npos;
    throw Error(ErrorKind::board,
                program + " does not start its check on " + host() + " (exit code " +
                    std::to_string(result.exit_code) + ")" + (said.empty() ? "" : ":\n" + said),
                "package for this board, with a toolchain for its C library",
                library ? finding_code::c_library : 0);
  }
}

void Deployment::switch_to(const std::string& id, const std::vector<std::string>& history) {
  reached_ = Reached::switching;
  releases_.switch_to(id, staged_, history);
}

// The deploy is done by then: what cannot be removed is no failure of it.
void Deployment::clean_up(const DeployRules& rules, const std::string& id) {
  try {
    if (rules.keep) {
      const BoardState now = releases_.look("");
      const auto gone = releases_to_remove(now.history, id, now.releases, *rules.keep);
      releases_.remove(gone);
      for (const auto& release : gone) {
        log(LogLevel::notice, "removed release " + short_id(release) + " on " + host());
      }
    }
    releases_.remove_leftovers();
  } catch (const Error& error) {
    log(LogLevel::warning, "the release is in use, but not all was removed: " + error.message());
  }
}

void Deployment::say_plan(const LocalPackage& package, const DeployRules& rules) const {
  if (state_.has(package.id) && !rules.overwrite) {
    std::cout << host() << ": release " << short_id(package.id)
              << " is there; it would be verified, nothing would be sent\n";
  } else {
    const std::string likest = state_.likest();
    const bool lends = !likest.empty() && likest != package.id;
    const auto plan = plan_copy(package.files, releases_.staged_files(package.id),
                                lends ? releases_.files(likest) : std::vector<PackagedFile>());
    std::cout << host() << ": would send " << plan.sent.size() << " of " << package.files.size()
              << " files, " << readable_size(plan.sent_bytes) << " of "
              << readable_size(package.size) << "\n";
    for (const auto& file : plan.sent) {
      std::cout << "  " << file.path << "  " << readable_size(file.size) << "\n";
    }
    if (!plan.taken.empty()) {
      std::cout << "  " << plan.taken.size() << " files from release " << short_id(likest)
                << ", which is there\n";
    }
    if (!plan.kept.empty()) {
      std::cout << "  " << plan.kept.size() << " files are there from an earlier attempt\n";
    }
  }
  std::cout << host() << ": " << state_.destination << "/current would go from "
            << (state_.current.empty() ? "nothing" : short_id(state_.current)) << " to "
            << short_id(package.id) << "\n";
  if (!rules.keep) return;
  auto there = state_.releases;
  if (!state_.has(package.id)) there.push_back(package.id);
  for (const auto& id :
       releases_to_remove(history_after_deploy(state_.history, state_.current, package.id),
                          package.id, there, *rules.keep)) {
    std::cout << host() << ": release " << short_id(id) << " would be removed\n";
  }
}

Deployed Deployment::deploy(const LocalPackage& package, const DeployRules& rules) {
  look(package.id);
  Deployed done{package.id, package.manifest.name, state_.destination, state_.current,
                package.manifest.programs};
  done.was_there = state_.has(package.id);
  done.dry = rules.dry_run;
  const bool send_it = !done.was_there || rules.overwrite;
  // A dry run leaves nothing there, not even for a moment.
  if (send_it) preflight(package, !rules.dry_run);
  if (rules.dry_run) {
    say_plan(package, rules);
    return done;
  }
  if (send_it) {
    send(package, done);
  } else {
    log(LogLevel::notice, "release " + short_id(package.id) + " is there already; verifying it");
    require_equal(wanted_of(package), releases_.files(package.id),
                  "deploy with --overwrite to replace it");
  }
  check(wanted_of(package), send_it ? staged_ : package.id);
  switch_to(package.id, history_after_deploy(state_.history, state_.current, package.id));
  clean_up(rules, package.id);
  return done;
}

Deployed Deployment::roll_back(bool dry_run) {
  look("");
  const std::string id = release_before(state_.history, state_.current, state_.releases);
  if (id.empty()) {
    std::vector<std::string> there;
    for (const auto& release : state_.releases) there.push_back(short_id(release));
    throw Error(ErrorKind::board,
                "no release before the one in use is on record at " + host() + ":" +
                    state_.destination + (there.empty() ? "" : "; there: " + join(there, ", ")),
                "deploy the package that you want to go back to: what is there is not sent again");
  }
  const WantedRelease wanted = wanted_there(releases_, id, host());
  require_equal(wanted, releases_.files(id), "deploy its package again with --overwrite");
  Deployed done{id, wanted.manifest.name, state_.destination, state_.current,
                wanted.manifest.programs};
  done.was_there = true;
  done.dry = dry_run;
  if (dry_run) {
    std::cout << host() << ": " << state_.destination << "/current would go from "
              << short_id(state_.current) << " to " << short_id(id) << "\n";
    return done;
  }
  check(wanted, id);
  switch_to(id, history_after_rollback(state_.history, state_.current, id));
  return done;
}

}  // namespace

Deployed deploy(const Transport& transport, const LocalPackage& package,
                const std::string& destination, const DeployRules& rules) {
  return Deployment(transport, destination).run([&](Deployment& deployment) {
    return deployment.deploy(package, rules);
  });
}

Deployed roll_back(const Transport& transport, const std::string& destination, bool dry_run) {
  return Deployment(transport, destination).run([&](Deployment& deployment) {
    return deployment.roll_back(dry_run);
  });
}

}  // namespace teeny::tool

#include "teeny/runtime/declared_weights.hpp"

#include <algorithm>
#include <mutex>
#include <tuple>
#include <utility>

#include "teeny/base/error.hpp"

namespace teeny {

namespace {

struct DeclaredWeights {
  std::mutex mutex;
  std::vector<WeightNeed> needs;
  detail::WeightsCheck check = nullptr;
};

// Made by the first declaration, which may come before anything in this file is initialised.
DeclaredWeights& all_declared() {
  static DeclaredWeights one;
  return one;
}

}  // namespace

std::vector<WeightNeed> declared_weights() {
  std::vector<WeightNeed> needs;
  {
    const std::lock_guard lock(all_declared().mutex);
    needs = all_declared().needs;
  }
  std::sort(needs.begin(), needs.end(), [](const WeightNeed& a, const WeightNeed& b) {
    return std::tie(a.name, a.type.dtype, a.type.shape) <
           std::tie(b.name, b.type.dtype, b.type.shape);
  });
  needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
  for (std::size_t i = 0; i < needs.size(); ++i) {
    if (needs[i].name.empty()) {
      throw Error(ErrorKind::usage,
                  "a weight of type " + to_string(needs[i].type) + " is declared without a name");
    }
    if (i == 0 || needs[i].name != needs[i - 1].name) continue;
    throw Error(ErrorKind::usage,
                "weight " + needs[i].name + " is declared twice: as " +
                    to_string(needs[i - 1].type) + " and as " + to_string(needs[i].type),
                "give the two their own names");
  }
  return needs;
}

namespace detail {

void declare_weight(WeightNeed need, WeightsCheck check) {
  const std::lock_guard lock(all_declared().mutex);
  all_declared().needs.push_back(std::move(need));
  all_declared().check = check;
}

WeightsCheck weights_check() {
  const std::lock_guard lock(all_declared().mutex);
  return all_declared().check;
}

}  // namespace detail

}  // namespace teeny

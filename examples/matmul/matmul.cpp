// One matrix product written once over AnyTile: its dtype, tile sizes and epilogue are run-time
// members, chosen from the command line, and every variant is declared, so that all of them can be
// compiled for a board ahead of time.
//
//   matmul                            all variants, checked
//   matmul f16 64x64x32 relu          one of them, on a larger product

#include <array>
#include <cstring>
#include <optional>

#include "../common/check.hpp"

#include "teeny/teeny.hpp"

using namespace teeny;

enum class Epilogue { none, relu };

struct TileSize {
  int m, n, k;
};
constexpr std::array<TileSize, 4> tile_sizes{
    {{16, 16, 16}, {32, 32, 32}, {64, 64, 32}, {64, 32, 16}}};
constexpr std::array<DType, 3> dtypes{DType::f32, DType::f16, DType::bf16};

/// c[M, N] = epilogue(a[M, K] b[K, N]), all row-major and of one dtype, accumulated in f32. Any
/// sizes: edges are padded with zeros.
struct Matmul {
  DType dtype;
  int tile_m, tile_n, tile_k;
  Epilogue epilogue;

  static std::vector<Matmul> variants() {
    std::vector<Matmul> all;
    for (const DType dtype : dtypes) {
      for (const TileSize& tile : tile_sizes) {
        for (const Epilogue epilogue : {Epilogue::none, Epilogue::relu}) {
          all.push_back({dtype, tile.m, tile.n, tile.k, epilogue});
        }
      }
    }
    return all;
  }

  [[nodiscard]] std::vector<ir::Type> signature() const {
    const ir::Type in = ir::Type::pointer_to(dtype, true);
    const ir::Type size = ir::Type::scalar(DType::i32);
    return {in, in, ir::Type::pointer_to(dtype), size, size, size};
  }

  void operator()(AnyTile a, AnyTile b, AnyTile c, Int m, Int n, Int k) const {
    auto row = program_id(0) * tile_m;
    auto column = program_id(1) * tile_n;
    AnyView left = view(a, {m, k});
    AnyView right = view(b, {k, n});
    AnyTile sum =
        fold(range(0, k, tile_k), zeros(DType::f32, {tile_m, tile_n}), [&](Int step, AnyTile acc) {
          return dot(load(left, {row, step}, {tile_m, tile_k}),
                     load(right, {step, column}, {tile_k, tile_n}), acc);
        });
    if (epilogue == Epilogue::relu) sum = maximum(sum, 0.0);
    store(view(c, {m, n}), {row, column}, cast(sum, dtype));
  }
};

namespace {

template <Element T>
bool check(Device& device, const Matmul& kernel, int m, int n, int k, std::mt19937_64& generator) {
  const auto count = [](int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  };
  const std::vector<T> a = example::uniform<T>(count(m, k), generator);
  const std::vector<T> b = example::uniform<T>(count(k, n), generator);
  Buffer<T> device_a = device.buffer<T>(a);
  Buffer<T> device_b = device.buffer<T>(b);
  Buffer<T> c = example::poisoned<T>(device, count(m, n));
  device.launch(kernel, grid(cdiv(m, kernel.tile_m), cdiv(n, kernel.tile_n)), device_a, device_b, c,
                m, n, k);

  std::vector<double> want(count(m, n), 0.0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(m); ++i) {
    for (std::size_t p = 0; p < static_cast<std::size_t>(k); ++p) {
      const double left = static_cast<double>(a[i * static_cast<std::size_t>(k) + p]);
      for (std::size_t j = 0; j < static_cast<std::size_t>(n); ++j) {
        want[i * static_cast<std::size_t>(n) + j] +=
            left * static_cast<double>(b[p * static_cast<std::size_t>(n) + j]);
      }
    }
  }
  if (kernel.epilogue == Epilogue::relu) {
    for (double& value : want) value = std::max(value, 0.0);
  }
  char what[96];
  std::snprintf(what, sizeof what, "%s %dx%dx%d%s, %d x %d x %d",
                std::string(name(kernel.dtype)).c_str(), kernel.tile_m, kernel.tile_n,
                kernel.tile_k, kernel.epilogue == Epilogue::relu ? " relu" : "", m, n, k);
  // A sum of k products of values in [-1, 1) has the size of sqrt(k / 9).
  const double bound = kernel.dtype == DType::f32 ? 2e-6 : kernel.dtype == DType::f16 ? 1e-3 : 8e-3;
  return example::verdict(what, example::relative_error(c.to_vector(), want, std::sqrt(k / 9.0)),
                          bound);
}

bool check(Device& device, const Matmul& kernel, int m, int n, int k, std::mt19937_64& generator) {
  switch (kernel.dtype) {
    case DType::f16:
      return check<f16>(device, kernel, m, n, k, generator);
    case DType::bf16:
      return check<bf16>(device, kernel, m, n, k, generator);
    default:
      return check<f32>(device, kernel, m, n, k, generator);
  }
}

/// "f16 64x64x32 relu" -> the declared variant of that name.
std::optional<Matmul> choose(const std::vector<std::string>& words) {
  for (const Matmul& kernel : Matmul::variants()) {
    const std::string tile = std::to_string(kernel.tile_m) + "x" + std::to_string(kernel.tile_n) +
                             "x" + std::to_string(kernel.tile_k);
    const bool relu = words.size() > 2 && words[2] == "relu";
    if (words[0] == name(kernel.dtype) && words[1] == tile &&
        (kernel.epilogue == Epilogue::relu) == relu)
      return kernel;
  }
  return std::nullopt;
}

int main_on(Program& program) {
  std::vector<std::string> words = program.arguments();
  const std::uint64_t seed = example::seed_of(words);
  std::erase_if(words, [](const std::string& word) { return word.rfind("seed=", 0) == 0; });
  std::optional<Matmul> one;
  if (!words.empty()) {
    if (words.size() < 2 || !(one = choose(words))) {
      throw Error(ErrorKind::usage, "no such variant",
                  "matmul [f32|f16|bf16 16x16x16|32x32x32|64x64x32|64x32x16 [relu]] [seed=N]");
    }
  }
  Device device = program.device();
  std::printf("matmul on %s, seed=%llu\n", device.name().c_str(),
              static_cast<unsigned long long>(seed));
  std::mt19937_64 generator(seed);
  if (one) return check(device, *one, 500, 300, 700, generator) ? 0 : 1;
  bool good = true;
  for (const Matmul& kernel : Matmul::variants())
    good = check(device, kernel, 130, 94, 70, generator) && good;
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return teeny::run(argc, argv, main_on); }

// The smallest kernel: out = a + b, any length. Run plainly it computes and checks; with --device
// and --options it compiles its kernels for a board and stops.

#include "../common/check.hpp"

#include "teeny/teeny.hpp"

using namespace teeny;

template <Element T, int Block>
struct VectorAdd {
  void operator()(Ptr<const T> a, Ptr<const T> b, Ptr<T> out, Int n) const {
    auto i = program_id(0) * Block + arange<Block>();
    auto inside = i < n;
    store(out + i, load(a + i, inside) + load(b + i, inside), inside);
  }
};

namespace {

template <Element T>
bool check(Device& device, int n, std::mt19937_64& generator, const char* what, double bound) {
  constexpr int block = 1024;
  const std::vector<T> a = example::uniform<T>(static_cast<std::size_t>(n), generator);
  const std::vector<T> b = example::uniform<T>(static_cast<std::size_t>(n), generator);
  Buffer<T> device_a = device.buffer<T>(a);
  Buffer<T> device_b = device.buffer<T>(b);
  Buffer<T> out = example::poisoned<T>(device, static_cast<std::size_t>(n));
  device.launch(VectorAdd<T, block>{}, grid(cdiv(n, block)), device_a, device_b, out, n);
  std::vector<double> want(a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    want[i] = static_cast<double>(a[i]) + static_cast<double>(b[i]);
  return example::verdict(what, example::relative_error(out.to_vector(), want, 1.0), bound);
}

int main_on(Program& program) {
  Device device = program.device();
  const std::uint64_t seed = example::seed_of(program.arguments());
  std::printf("vector_add on %s, seed=%llu\n", device.name().c_str(),
              static_cast<unsigned long long>(seed));
  std::mt19937_64 generator(seed);
  bool good = check<f32>(device, 1'000'003, generator, "f32, 1000003 elements", 1e-7);
  good = check<f16>(device, 4'097, generator, "f16, 4097 elements", 5e-4) && good;
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return teeny::run(argc, argv, main_on); }

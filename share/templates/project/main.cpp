// A program with one kernel, y = a x + y, that checks its own result. The same source runs on this
// machine and on a board: `teeny package` compiles program and kernel for the board.

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "teeny/teeny.hpp"

using namespace teeny;

// A kernel is a function object. Many instances of it run at once, each on one block of elements:
// program_id(0) says which. A type or a size that does not fit does not compile.
template <Element T, int Block>
struct Axpy {
  void operator()(Scalar<T> a, Ptr<const T> x, Ptr<T> y, Int n) const {
    auto i = program_id(0) * Block + arange<Block>();  // the indices of this block
    auto inside = i < n;                               // the last block may stick out
    store(y + i, load(x + i, inside) * a + load(y + i, inside), inside);
  }
};

namespace {

constexpr int block = 256;

int main_on(Program& program) {
  // Words of the command line that are not teeny's own are the program's: here the number of
  // elements.
  const int n =
      program.arguments().empty() ? 10'000 : std::atoi(program.arguments().front().c_str());
  if (n <= 0) {
    std::fputs("the number of elements must be positive\n", stderr);
    return 2;
  }
  std::vector<f32> x(static_cast<std::size_t>(n));
  std::vector<f32> y(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<f32>(i % 17);
    y[i] = static_cast<f32>(i % 5);
  }

  // cuda where there is a GPU, else cpu; --on cpu chooses.
  Device device = program.device();
  Buffer<f32> device_x = device.buffer<f32>(x);
  Buffer<f32> device_y = device.buffer<f32>(y);
  // Naming the kernel here is all it takes for `teeny package` to compile it.
  device.launch(Axpy<f32, block>{}, grid(cdiv(n, block)), 2.0F, device_x, device_y, n);

  const std::vector<f32> result = device_y.to_vector();
  int wrong = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double want = 2.0 * static_cast<double>(x[i]) + static_cast<double>(y[i]);
    // Not a number is wrong, too.
    if (!(std::fabs(static_cast<double>(result[i]) - want) < 1e-5)) ++wrong;
  }
  std::printf("%d elements on %s, %d wrong\n", n, device.name().c_str(), wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return teeny::run(argc, argv, main_on); }

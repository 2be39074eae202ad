// How fast out = a + b goes, in bytes read and written: a matter of memory alone.
//
//   vector_add_bench [elements=268435456] [batches=20] [launches=20] [offset=0]
//
// One line of JSON for each block size: GB/s of the median batch of so many launches, by the
// device's clock. Inputs are random, and part of the output is checked. `offset`: elements between
// the beginning of an allocation and that of an array, so that vectors cannot be had.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "teeny/teeny.hpp"

using namespace teeny;

namespace {

template <Element T, int Block>
struct VectorAdd {
  void operator()(Ptr<const T> a, Ptr<const T> b, Ptr<T> out, Int n) const {
    auto i = program_id(0) * Block + arange<Block>();
    auto inside = i < n;
    store(out + i, load(a + i, inside) + load(b + i, inside), inside);
  }
};

struct Sizes {
  int elements = 1 << 28;
  int batches = 20;
  int launches = 20;
  int offset = 0;
};

Sizes sizes_of(const std::vector<std::string>& arguments) {
  Sizes sizes;
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    const std::string key = argument.substr(0, equals);
    int* const size = key == "elements"   ? &sizes.elements
                      : key == "batches"  ? &sizes.batches
                      : key == "launches" ? &sizes.launches
                      : key == "offset"   ? &sizes.offset
                                          : nullptr;
    const int value = equals == std::string::npos ? 0 : std::atoi(argument.c_str() + equals + 1);
    if (size == nullptr || value < 1) {
      throw Error(
          ErrorKind::usage,
          "wanted elements=N, batches=N or launches=N with N of at least 1, found " + argument);
    }
    *size = value;
  }
  return sizes;
}

/// Whether the first and the last elements of `out` are what they should be.
bool right(const BufferView<f32>& a, const BufferView<f32>& b, const BufferView<f32>& out) {
  const std::size_t count = std::min<std::size_t>(out.size(), 100'003);
  for (const std::size_t first : {std::size_t{0}, out.size() - count}) {
    std::vector<f32> parts[3];
    int next = 0;
    for (const BufferView<f32>* array : {&a, &b, &out}) {
      parts[next].resize(count);
      out.device().default_stream().download(array->view(first, count), parts[next++]);
    }
    out.device().synchronize();
    for (std::size_t i = 0; i < count; ++i) {
      if (parts[2][i] != parts[0][i] + parts[1][i]) return false;
    }
  }
  return true;
}

template <int Block>
bool measure(const Device& device, const Sizes& sizes, const BufferView<f32>& a,
             const BufferView<f32>& b, const BufferView<f32>& out) {
  const Stream stream = device.default_stream();
  const Grid programs = grid(cdiv(sizes.elements, Block));
  const VectorAdd<f32, Block> kernel;
  stream.fill_bytes(out, 0xff);
  for (int i = 0; i < sizes.launches; ++i) {
    stream.launch(kernel, programs, a, b, out, sizes.elements);
  }
  std::vector<double> times;
  for (int batch = 0; batch < sizes.batches; ++batch) {
    const Event begin = stream.record();
    for (int i = 0; i < sizes.launches; ++i) {
      stream.launch(kernel, programs, a, b, out, sizes.elements);
    }
    const Event end = stream.record();
    end.synchronize();
    times.push_back(elapsed_ms(begin, end) / sizes.launches);
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  const double bytes = 3.0 * sizeof(f32) * sizes.elements;
  const bool good = right(a, b, out);
  std::printf(
      "{\"by\": \"teeny\", \"block\": %d, \"elements\": %d, \"offset\": %d, \"ms\": %.5f, "
      "\"gbps\": %.1f, \"right\": %s}\n",
      Block, sizes.elements, sizes.offset, median, bytes / median * 1e-6, good ? "true" : "false");
  std::fflush(stdout);
  return good;
}

int main_on(Program& program) {
  const Device device = program.device();
  const Sizes sizes = sizes_of(program.arguments());
  const auto count = static_cast<std::size_t>(sizes.elements);
  const auto offset = static_cast<std::size_t>(sizes.offset);
  std::mt19937 random(1);
  std::vector<f32> values(offset + count);
  const auto fill = [&] {
    for (f32& value : values) value = static_cast<f32>(random() >> 8) * 0x1p-24F;
    return device.buffer<f32>(values);
  };
  const Buffer<f32> whole_a = fill();
  const Buffer<f32> whole_b = fill();
  const Buffer<f32> whole_out = device.buffer<f32>(offset + count);
  const auto array = [&](const Buffer<f32>& whole) { return whole.view().view(offset, count); };
  const BufferView<f32> a = array(whole_a);
  const BufferView<f32> b = array(whole_b);
  const BufferView<f32> out = array(whole_out);
  bool good = measure<1024>(device, sizes, a, b, out);
  good = measure<2048>(device, sizes, a, b, out) && good;
  good = measure<4096>(device, sizes, a, b, out) && good;
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, main_on); }

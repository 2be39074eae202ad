// Reads a photograph, runs five kernels on it, writes a picture.
//
//   image_filter PHOTO.png OUT.png
//   image_filter compare A.png B.png      exits 1 when a channel differs by more than 1 of 255

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "kernels.hpp"
#include "picture.hpp"
#include "reference.hpp"

namespace {

using namespace teeny;

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

/// Runs the whole pipeline on `device`.
Picture apply(Device& device, const Picture& photo) {
  const int height = photo.height;
  const int width = photo.width;
  const std::size_t plane = static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
  const Grid planes = grid(cdiv(width, filter::tile_width), cdiv(height, filter::tile_height), 3);
  const Grid image = grid(cdiv(width, filter::tile_width), cdiv(height, filter::tile_height));

  Buffer<u8> pixels = device.buffer<u8>(photo.pixels);
  Buffer<f32> sharp = device.buffer<f32>(3 * plane);
  Buffer<f32> half = device.buffer<f32>(3 * plane);
  Buffer<f32> soft = device.buffer<f32>(3 * plane);
  Buffer<f32> edges = device.buffer<f32>(plane);
  Buffer<u8> out = device.buffer<u8>(3 * plane);
  for (Buffer<f32>* buffer : {&sharp, &half, &soft, &edges}) buffer->fill_bytes(0xff);
  out.fill_bytes(0xff);

  device.launch(filter::Unpack{}, planes, pixels, sharp, height, width);
  device.launch(filter::Blur<true>{}, planes, sharp, half, height, width);
  device.launch(filter::Blur<false>{}, planes, half, soft, height, width);
  device.launch(filter::Edges{}, image, soft, edges, height, width);
  device.launch(filter::Tone{}, planes, sharp, soft, edges, out, height, width);
  return {height, width, out.to_vector()};
}

int compare(const std::string& a, const std::string& b) {
  const int worst = largest_difference(read_picture(a), read_picture(b));
  std::printf("largest difference of the two pictures: %d of 255 (bound 1)\n", worst);
  return worst <= 1 ? 0 : 1;
}

int main_on(Program& program) {
  const std::vector<std::string>& words = program.arguments();
  if (words.size() == 3 && words[0] == "compare") return compare(words[1], words[2]);
  if (words.size() != 2) {
    throw Error(ErrorKind::usage, "wanted two file names",
                "image_filter PHOTO.png OUT.png, or image_filter compare A.png B.png");
  }
  const Picture photo = read_picture(words[0]);
  Device device = program.device();
  const auto start = std::chrono::steady_clock::now();
  const Picture picture = apply(device, photo);
  std::printf("image_filter on %s: %d x %d, %.1f ms\n", device.name().c_str(), photo.width,
              photo.height, milliseconds_since(start));

  // The same in double precision: rounding to 8 bits may fall on the other side, nothing more.
  const int worst = largest_difference(picture, filter_reference(photo));
  std::printf("largest difference from the float64 reference: %d of 255\n", worst);
  if (worst > 1) {
    std::fprintf(stderr, "image_filter: the picture is WRONG and was not written\n");
    return 1;
  }
  write_png(words[1], picture);
  std::printf("wrote %s\n", words[1].c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return teeny::run(argc, argv, main_on); }

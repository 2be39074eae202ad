#include "picture.hpp"

#include <climits>

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wcast-qual"
#endif
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_NO_STDIO
#include "stb/stb_image.h"
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#include "stb/stb_image_write.h"
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

Picture read_picture(const std::filesystem::path& path) {
  const std::string bytes = teeny::read_file(path);
  if (bytes.size() > INT_MAX)
    throw teeny::Error(teeny::ErrorKind::input, path.string() + ": larger than 2 GiB");
  Picture picture;
  int channels = 0;
  stbi_uc* data = stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()),
                                        static_cast<int>(bytes.size()), &picture.width,
                                        &picture.height, &channels, 3);
  if (data == nullptr) {
    throw teeny::Error(teeny::ErrorKind::input,
                       path.string() + ": wanted a PNG or JPEG picture, the decoder says: " +
                           stbi_failure_reason());
  }
  picture.pixels.assign(data, data + static_cast<std::size_t>(picture.width) *
                                         static_cast<std::size_t>(picture.height) * 3);
  stbi_image_free(data);
  return picture;
}

void write_png(const std::filesystem::path& path, const Picture& picture) {
  std::string bytes;
  const auto append = [](void* context, void* data, int size) {
    static_cast<std::string*>(context)->append(static_cast<const char*>(data),
                                               static_cast<std::size_t>(size));
  };
  if (stbi_write_png_to_func(append, &bytes, picture.width, picture.height, 3,
                             picture.pixels.data(), picture.width * 3) == 0) {
    throw teeny::Error(teeny::ErrorKind::internal,
                       path.string() + ": the picture could not be encoded");
  }
  teeny::write_file(path, bytes);
}

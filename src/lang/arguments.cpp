#include "teeny/lang/arguments.hpp"

#include "teeny/base/error.hpp"

namespace teeny::lang {

u64 LaunchArgument::bits(const ir::Type& parameter, std::size_t number,
                         const KernelInstance& kernel) const {
  const auto fail = [&](const std::string& found) {
    throw Error(ErrorKind::usage, "launch of " + kernel.name + ", argument " +
                                      std::to_string(number) + ": wanted " +
                                      ir::to_string(parameter) + ", found " + found);
  };
  if (pointer_) {
    const ir::Type type = ir::Type::pointer_to(dtype_, read_only_);
    const bool fits =
        parameter.pointer && parameter.dtype == dtype_ && (parameter.read_only || !read_only_);
    if (!fits) fail(ir::to_string(type));
    return address_;
  }
  if (parameter.pointer) fail("the number " + number_.text());
  const std::string wrong = number_.misfit(parameter.dtype);
  if (!wrong.empty()) fail("the number " + number_.text() + ": " + wrong);
  return number_.bits(parameter.dtype);
}

std::vector<u64> pack(const KernelInstance& kernel, const LaunchArgument* arguments,
                      std::size_t count) {
  if (count != kernel.signature.size()) {
    throw Error(ErrorKind::usage, "launch of " + kernel.name + ": wanted " +
                                      std::to_string(kernel.signature.size()) +
                                      " arguments, found " + std::to_string(count));
  }
  std::vector<u64> slots;
  slots.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    slots.push_back(arguments[i].bits(kernel.signature[i], i + 1, kernel));
  }
  return slots;
}

}  // namespace teeny::lang

#include "teeny/lang/arguments.hpp"

#include "teeny/base/error.hpp"

namespace teeny::lang {

namespace {

Error misfit(const KernelInstance& kernel, std::size_t number, const ir::Type& wanted,
             const std::string& found) {
  return Error(ErrorKind::usage, "launch of " + kernel.name + ", argument " +
                                     std::to_string(number) + ": wanted " + ir::to_string(wanted) +
                                     ", found " + found);
}

}  // namespace

u64 LaunchArgument::bits(const ir::Type& parameter, std::size_t number,
                         const KernelInstance& kernel) const {
  const auto fail = [&](const std::string& found) {
    throw misfit(kernel, number, parameter, found);
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

void refuse_number(const Number& found, DType wanted, std::size_t number,
                   const KernelInstance& kernel) {
  throw misfit(kernel, number, ir::Type::scalar(wanted),
               "the number " + found.text() + ": " + found.misfit(wanted));
}

}  // namespace teeny::lang

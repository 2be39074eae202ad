#include "teeny/lang/kernel_traits.hpp"

#include "teeny/base/error.hpp"
#include "teeny/lang/members.hpp"
#include "teeny/lang/trace.hpp"

namespace teeny::lang {

void require_signature_length(const std::vector<ir::Type>& signature, std::size_t parameters) {
  if (signature.size() == parameters) return;
  throw Error(ErrorKind::input, "signature() names " + std::to_string(signature.size()) +
                                    " types, but the kernel's operator() has " +
                                    std::to_string(parameters) + " parameters");
}

ir::Kernel record_kernel(const std::string& name, const std::vector<ir::Type>& signature,
                         const KernelOptions& options,
                         const std::function<void(const Tiles&)>& call) {
  try {
    Trace trace(name, signature, options);
    Tiles values;
    values.reserve(signature.size());
    for (std::size_t i = 0; i < signature.size(); ++i) values.push_back(trace.parameter(i));
    call(values);
    return trace.finish();
  } catch (const Error& error) {
    if (error.message().find("kernel '" + name + "'") != std::string::npos) throw;
    throw Error(error.kind(), "kernel '" + name + "', " + error.message(), error.next());
  }
}

void append_hex(std::string& text, u64 value, int digits) {
  text += "0x";
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    text += "0123456789abcdef"[(value >> shift) & 15U];
  }
}

}  // namespace teeny::lang

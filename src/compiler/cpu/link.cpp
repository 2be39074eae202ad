#include "compiler/cpu/link.hpp"

#include <atomic>
#include <mutex>
#include <set>
#include <vector>

#include <lld/Common/Driver.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/raw_ostream.h>

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"

LLD_HAS_DRIVER(elf)

namespace teeny::compiler::cpu {
namespace {

const char* emulation(const llvm::Triple& triple) {
  switch (triple.getArch()) {
    case llvm::Triple::x86_64:
      return "elf_x86_64";
    case llvm::Triple::aarch64:
      return "aarch64linux";
    default:
      throw Error(ErrorKind::input, "kernels are not compiled for the CPU of " + triple.str(),
                  "use a triple that begins with x86_64 or aarch64");
  }
}

}  // namespace

std::string link_shared_object(const std::string& object, const llvm::Triple& triple,
                               const std::string& kernel) {
  // lld keeps its state in globals.
  static std::mutex mutex;
  static bool usable = true;
  const std::lock_guard lock(mutex);
  if (!usable) {
    throw Error(ErrorKind::internal, "lld crashed in this teenyc before; it cannot link again");
  }
  const TemporaryDirectory directory("teenyc");
  const std::string input = (directory.path() / "kernel.o").string();
  const std::string output = (directory.path() / "kernel.so").string();
  write_file(input, object);
  // Pages of 64 KiB exist on AArch64: segments must not share one there.
  const std::vector<const char*> arguments = {"ld.lld",
                                              "-shared",
                                              "-m",
                                              emulation(triple),
                                              "--build-id=none",
                                              "--hash-style=gnu",
                                              "--strip-all",
                                              "-z",
                                              "noexecstack",
                                              "-z",
                                              "max-page-size=65536",
                                              "--threads=1",
                                              "-o",
                                              output.c_str(),
                                              input.c_str()};
  std::string words;
  llvm::raw_string_ostream stream(words);
  const lld::Result result = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  usable = result.canRunAgain;
  if (result.retCode != 0) {
    throw Error(ErrorKind::internal, "lld cannot link kernel " + kernel + ": " + words,
                "this is a bug in teeny: please report it with the kernel's IR");
  }
  return read_file(output);
}

std::string undefined_symbols(const std::string& object, const std::string& kernel) {
  auto file = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(llvm::StringRef(object), kernel));
  if (!file) {
    throw Error(ErrorKind::internal, "LLVM made an object for kernel " + kernel +
                                         " that it cannot read: " + toString(file.takeError()));
  }
  std::set<std::string> names;
  for (const auto& symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    auto name = symbol.getName();
    if (!flags || !name) {
      throw Error(ErrorKind::internal, "the object of kernel " + kernel + " has a broken symbol");
    }
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) != 0 && !name->empty()) {
      names.insert(name->str());
    }
  }
  for (const char* allowed : {"memcpy", "memmove", "memset"}) names.erase(allowed);
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace teeny::compiler::cpu

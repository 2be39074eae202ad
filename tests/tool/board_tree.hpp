#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

#include "tests/tool/fake_ssh.hpp"

#include "teeny/base/files.hpp"
#include "teeny/base/process.hpp"
#include "teeny/base/text.hpp"

namespace teeny::tool {

/// The root of an AArch64 board, made of this machine's cross packages, with a BusyBox of this
/// machine for a shell: what a sysroot is copied from, without a board. Links are as boards have
/// them, absolute ones among them.
class BoardTree {
 public:
  enum class Layout {
    multiarch,  ///< /usr/lib/aarch64-linux-gnu, and /lib is a link to /usr/lib (Debian, Ubuntu)
    flat,       ///< /usr/lib, and /lib is a link to usr/lib; no other folder of libraries
  };

  /// Why there can be no such tree here; empty when there can.
  static std::string why_not() {
    if (::geteuid() != 0) return "chroot needs root";
    for (const char* program : {"busybox", "clang++-19", "ld.lld-19", "aarch64-linux-gnu-g++"}) {
      if (!find_program(program)) return std::string("no ") + program + ": run ./setup";
    }
    return "";
  }

  explicit BoardTree(Layout layout) : directory_("board 'é $") {
    namespace fs = std::filesystem;
    const bool multiarch = layout == Layout::multiarch;
    const std::string lib = multiarch ? "/usr/lib/aarch64-linux-gnu" : "/usr/lib";
    // As the C library's own linker script names it: through the link /lib where there are two.
    const std::string named = multiarch ? "/lib/aarch64-linux-gnu" : "/usr/lib";
    const fs::path cross = "/usr/aarch64-linux-gnu";
    const fs::path gcc = parent_of("libgcc.a");
    fs::create_directories(at(lib));
    fs::create_directories(at("/etc/alternatives"));
    copy_headers(cross / "include");
    for (const char* name :
         {"Scrt1.o", "crt1.o", "crti.o", "crtn.o", "libc_nonshared.a", "libpthread.a", "libdl.a",
          "libc.so.6", "libm.so.6", "libpthread.so.0", "libgcc_s.so.1", "ld-linux-aarch64.so.1"}) {
      fs::copy_file(cross / "lib" / name, at(lib) / name);
    }
    fs::copy_file(fs::canonical(cross / "lib" / "libstdc++.so.6"), at(lib) / "libstdc++.so.6.0.30");
    link("libstdc++.so.6.0.30", lib + "/libstdc++.so.6");
    write_file(at(lib) / "libc.so", "GROUP ( " + named + "/libc.so.6 " + lib +
                                        "/libc_nonshared.a AS_NEEDED ( "
                                        "/lib/ld-linux-aarch64.so.1 ) )\n");
    link(named + "/libm.so.6", lib + "/libm.so");
    link(multiarch ? "/usr/lib" : "usr/lib", "/lib");
    if (multiarch)
      link("aarch64-linux-gnu/ld-linux-aarch64.so.1", "/usr/lib/ld-linux-aarch64.so.1");
    const std::string compiler = "/usr/lib/gcc/aarch64-linux-gnu/12";
    fs::create_directories(at(compiler));
    for (const char* name : {"crtbegin.o", "crtbeginS.o", "crtend.o", "crtendS.o", "libgcc.a",
                             "libgcc_eh.a", "libgcc_s.so"}) {
      fs::copy_file(gcc / name, at(compiler) / name);
    }
    link(lib + "/libstdc++.so.6", compiler + "/libstdc++.so");
    // Out of the root, and to where an absolute one ends.
    link("../../../../../../../../../etc/alternatives/libsin.so", lib + "/libsin.so");
    link(named + "/libm.so.6", "/etc/alternatives/libsin.so");
    link("/usr/bin/gone", "/etc/alternatives/gone");
    write_file(at("/etc/nv_tegra_release"), "# R35 (release), REVISION: 4.1, GCID: 1\n");
    if (!multiarch) {
      fs::create_directories(at("/usr/lib/firmware"));
      write_file(at("/usr/lib/firmware/large"), "not for linking\n");
    }
    fs::create_directories(at("/dev"));
    write_file(at("/dev/null"), "");
    fs::create_directories(at("/bin"));
    fs::copy_file(*find_program("busybox"), at("/bin/busybox"));
    for (const char* name : {"sh", "env", "tar", "readlink", "head", "uname"}) {
      link("busybox", std::string("/bin/") + name);
    }
  }

  [[nodiscard]] std::filesystem::path at(const std::string& absolute) const {
    return directory_.path() / absolute.substr(1);
  }
  void link(const std::string& target, const std::string& absolute) const {
    std::filesystem::create_symlink(target, at(absolute));
  }
  /// An ssh that runs what it is asked to in there; `cut`: it dies in the middle of a tar stream.
  [[nodiscard]] FakeSsh ssh(bool cut = false) const {
    const std::string enter = "exec chroot " + quote_for_shell(directory_.path().string()) +
                              " /bin/env PATH=/bin sh -c \"$*\"";
    if (!cut) return FakeSsh(FakeSsh::skip_options + ("PATH=$PATH:/usr/sbin\n" + enter));
    return FakeSsh(std::string(FakeSsh::skip_options) +
                   "PATH=$PATH:/usr/sbin\ncase \"$*\" in *\"exec tar\"*)\n(" + enter +
                   ") | head -c 5000000\necho 'Connection closed by remote host' >&2\nexit 255 ;;\n"
                   "esac\n" +
                   enter);
  }

 private:
  // Those that a C++ program may well include; all of them are many, and each takes its time.
  void copy_headers(const std::filesystem::path& from) const {
    namespace fs = std::filesystem;
    const fs::path source = directory_.path() / "probe.cpp";
    std::string text;
    for (const char* name : {"dlfcn.h", "features.h", "cmath", "filesystem", "iostream",
                             "stdexcept", "string", "thread", "vector"}) {
      text += std::string("#include <") + name + ">\n";
    }
    write_file(source, text);
    const auto listed =
        run({{"clang++-19", "--target=aarch64-linux-gnu", "-std=c++17", "-M", source.string()}});
    fs::remove(source);
    const std::string prefix = from.string() + "/";
    std::string rest = listed.output;
    std::replace(rest.begin(), rest.end(), '\n', ' ');
    for (const auto& word : split(rest, ' ')) {
      const fs::path header = fs::path(word).lexically_normal();
      if (header.string().rfind(prefix, 0) != 0) continue;
      const fs::path to = at("/usr/include") / header.lexically_relative(from);
      fs::create_directories(to.parent_path());
      fs::copy_file(header, to, fs::copy_options::skip_existing);
    }
  }
  // Where the cross compiler has a file of its own.
  static std::filesystem::path parent_of(const std::string& name) {
    const auto said = run({{"aarch64-linux-gnu-g++", "-print-file-name=" + name}}).output;
    return std::filesystem::path(said.substr(0, said.find('\n'))).parent_path();
  }

  TemporaryDirectory directory_;
};

}  // namespace teeny::tool

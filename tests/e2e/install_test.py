"""An installed teeny serves a project elsewhere, on paths with a space and an accent.

The prefix is moved after installing, so nothing in it may know where it was. A project of ten lines
finds it, is built for this machine and run, then packaged for a board by the installed tool and run
on the emulated board (under qemu's user-mode emulation where that board cannot be had).
"""

import json
import os
import re
import subprocess
import sys

import e2e_support as e2e

BOARD = os.path.join(e2e.SOURCE_DIR, "tests", "board", "board")

CMAKE = """cmake_minimum_required(VERSION 3.25)
project(shop LANGUAGES CXX)
find_package(teeny 0.1 REQUIRED)
add_executable(triple triple.cpp)
target_link_libraries(triple PRIVATE teeny::teeny)
"""

PROGRAM = """#include <cstdio>
#include "teeny/teeny.hpp"
using namespace teeny;
struct Triple {
  void operator()(Ptr<const f32> in, Ptr<f32> out, Int n) const {
    auto i = program_id(0) * 64 + arange<64>();
    store(out + i, load(in + i, i < n) * 3.0F, i < n);
  }
};
int main_on(Program& program) {
  Device device = program.device();
  std::vector<f32> numbers(100, 7.0F);
  Buffer<f32> in = device.buffer<f32>(numbers), out = device.buffer<f32>(numbers);
  device.launch(Triple{}, grid(2), in, out, 100);
  std::printf("%g %g\\n", out.to_vector().front(), out.to_vector().back());
  return 0;
}
int main(int argc, char** argv) { return teeny::run(argc, argv, main_on); }
"""

WANT = "21 21\n"


def run(*command, environment=None, **options):
    """The finished command; ends the test when it fails."""
    print("+", " ".join(command), flush=True)
    try:
        return e2e.must(list(command), env=e2e.environment(**environment or {}), timeout=900, **options)
    except AssertionError as error:
        sys.exit(str(error))


def check_prefix(prefix):
    wanted = ["bin/teeny", "bin/teenyc", "bin/teenyc.identity", "lib/cmake/teeny/teenyConfig.cmake",
              "lib/cmake/teeny/teenyConfigVersion.cmake", "share/teeny/include/teeny/teeny.hpp",
              "share/teeny/boards/jetson-orin-nano.toml", "share/teeny/cmake/BoardWing.cmake",
              "share/teeny/cmake/toolchains/aarch64-linux-gnu-gcc.cmake",
              "share/teeny/assemblers/fetch.py", "share/teeny/assemblers/pinned.txt",
              "share/teeny/third_party/include/nlohmann/json.hpp",
              "share/teeny/third_party/include/fmt/format.h"]
    missing = [name for name in wanted if not os.path.exists(os.path.join(prefix, name))]
    if missing:
        sys.exit(f"the installed prefix has no {', '.join(missing)}")
    with open(os.path.join(prefix, "bin/teenyc.identity"), encoding="ascii") as file:
        if not re.fullmatch(r"[0-9a-f]{64}\n", file.read()):
            sys.exit("bin/teenyc.identity is not 64 hex digits")
    if os.path.exists(os.path.join(prefix, "share/teeny/src/compiler")):
        sys.exit("the compiler's sources travel with the board wing")
    for directory, _, names in os.walk(prefix):
        for name in names:
            path = os.path.join(directory, name)
            with open(path, "rb") as file:
                if e2e.holds_path(file.read(), e2e.SOURCE_DIR):
                    sys.exit(f"{path} holds the path of the checkout, {e2e.SOURCE_DIR}")


def check_dependencies(build, prefix):
    """Third-party headers come from the prefix, never from this machine."""
    deps = run("ninja", "-C", build, "-t", "deps").stdout
    used = [line.strip() for line in deps.splitlines() if re.search(r"/(nlohmann|fmt)/", line)]
    if not used:
        sys.exit("no third-party header was used: has the board wing been compiled at all?")
    for path in used:
        if not os.path.realpath(os.path.join(build, path)).startswith(os.path.realpath(prefix)):
            sys.exit(f"{path} is not from the prefix")


def run_on_board(work, tool, package):
    """The program's output on the emulated board, or None where there can be none."""
    directory = os.path.join(work, "board")
    started = subprocess.run([BOARD, "start", directory], capture_output=True, text=True)
    if started.returncode == 77:
        print(started.stderr.strip())
        return None
    if started.returncode != 0:
        sys.exit(f"the board did not start: {started.stderr}")
    try:
        config = started.stdout.strip()
        run(tool, "deploy", "--package", package, "--host", "board", "--dest", "/home/nvidia/my shop",
            "--ssh", f"ssh -F '{config}'")
        return run("ssh", "-F", config, "board",
                   "env -i '/home/nvidia/my shop/current/bin/triple' --on cpu").stdout
    finally:
        subprocess.run([BOARD, "stop", directory], check=True)


def main():
    work = e2e.scratch("elsewhere é")
    prefix = e2e.installed_prefix()
    check_prefix(prefix)

    project = os.path.join(work, "my projé ct")
    os.mkdir(project)
    for name, text in (("CMakeLists.txt", CMAKE), ("triple.cpp", PROGRAM)):
        with open(os.path.join(project, name), "w", encoding="utf-8") as file:
            file.write(text)

    build = os.path.join(project, "build")
    run("cmake", "-S", project, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", build)
    check_dependencies(build, prefix)
    cache = os.path.join(work, "cache é")
    result = run(os.path.join(build, "triple"), "--on", "cpu",
                 environment={"TEENYC_PATH": os.path.join(prefix, "bin", "teenyc"),
                              "TEENYC_CACHE_DIR": cache})
    if result.stdout != WANT:
        sys.exit(f"the project printed {result.stdout!r} on this machine, wanted {WANT!r}")

    tool = os.path.join(prefix, "bin", "teeny")
    package = os.path.join(work, "the package")
    run(tool, "package", "--target", "jetson-orin-nano", "--bin", "triple", "--device", "cuda",
        "--options", "capability=sm_87,ptx-version=82", "--device", "cpu", "--dest", package,
        cwd=project)
    with open(os.path.join(package, "conf", "manifest.json"), encoding="utf-8") as file:
        kinds = {kernel["kind"] for kernel in json.load(file)["kernels"]}
    if not {"ptx", "cubin", "so"} <= kinds:
        sys.exit(f"the package holds kernels of kind {sorted(kinds)}")
    output = run_on_board(work, tool, package)
    where = "on the emulated board"
    if output is None:
        where = "under qemu-user"
        output = run("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu",
                     os.path.join(package, "bin", "triple"), "--on", "cpu").stdout
    if output != WANT:
        sys.exit(f"the packaged project printed {output!r} {where}, wanted {WANT!r}")
    print(f"installed, found, built, run, packaged and run {where}")


if __name__ == "__main__":
    main()

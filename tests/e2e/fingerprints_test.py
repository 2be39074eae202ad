"""Every build of an example records the same kernels.

`NAME --list` prints the fingerprint of each kernel. It must not depend on the compiler (g++, clang),
its optimisation (-O0 to -O3, -ffast-math), its C++ library (libstdc++ 10 to 12) or the machine
(AArch64 programs are run under qemu's user-mode emulation).
"""

import os
import re
import shutil
import subprocess
import sys

SOURCE_DIR = os.environ.get(
    "TEENY_SOURCE_DIR", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD_DIR = os.environ.get("TEENY_BUILD_DIR", os.path.join(SOURCE_DIR, "build"))

# build directory -> root of its C library where that is not this machine's
OTHERS = {
    "gcc-O0": None,
    "clang": None,
    "libstdcxx-11-fast-math": None,
    "aarch64": "/usr/aarch64-linux-gnu",
    "libstdcxx-10": os.path.join(SOURCE_DIR, "build/sysroot/bullseye"),
}
OPTIONAL = {"libstdcxx-10"}  # old suites leave the mirrors


def examples():
    top = os.path.join(SOURCE_DIR, "examples")
    directories = [name for name in os.listdir(top) if os.path.isdir(os.path.join(top, name))]
    return sorted(name for name in directories
                  if any(file.endswith(".cpp") for file in os.listdir(os.path.join(top, name))))


def kernels(program, root):
    command = [program, "--list"]
    if root is not None:
        emulator = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
        if emulator is None:
            sys.exit("no qemu-aarch64: run ./setup")
        command = [emulator, "-L", root] + command
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {result.returncode}:\n{result.stderr}")
    return result.stdout


def main():
    compared = 0
    left_out = set()
    for name in examples():
        want = kernels(os.path.join(BUILD_DIR, "bin", name), None)
        if not re.search(r"\b[0-9a-f]{64}\b", want):
            sys.exit(f"{name} --list shows no fingerprint:\n{want}")
        for build, root in OTHERS.items():
            program = os.path.join(SOURCE_DIR, "build", build, "bin", name)
            if not os.path.exists(program):
                if build in OPTIONAL and not os.path.isdir(root):
                    left_out.add(build)
                    continue
                sys.exit(f"{program} is not built: tests/structure/build_preset.sh {build}")
            found = kernels(program, root)
            if found != want:
                different = [f"  {BUILD_DIR}: {ours}\n  {build}: {theirs}" for ours, theirs in
                             zip(want.splitlines(), found.splitlines()) if ours != theirs]
                sys.exit(f"{name}: the build {build} records other kernels\n" +
                         ("\n".join(different) or f"{want}\nand\n{found}"))
            compared += 1
    if compared < len(OTHERS) - len(OPTIONAL):
        sys.exit("no example was compared")
    print(f"{len(examples())} examples, {compared} comparisons, all alike" +
          (f"; not there: {', '.join(sorted(left_out))}" if left_out else ""))


if __name__ == "__main__":
    main()

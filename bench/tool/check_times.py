#!/usr/bin/env python3
"""How long `teeny check` takes beside `teeny build`: check_times.py [TEENY] [TARGET]

Makes a project of 20 units below a temporary directory, half of them with a kernel, and times, without
a compiler cache: build and check from nothing; then, with everything built, both again after one line
was changed in a unit with a kernel and in one without. Prints the seconds and the ratios beside their
goals; exits 1 when one is missed. Nothing else should run on the machine.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UNITS = 20
RUNS = 3

KERNEL = """#include "teeny/teeny.hpp"
using namespace teeny;
namespace {{
struct Kernel{number} {{
  void operator()(Ptr<const f32> in, Ptr<f32> out, Int n) const {{
    auto i = program_id(0) * 256 + arange<256>();
    auto x = load(in + i, i < n);
    store(out + i, exp(x) * {number}.0F + x / {line}.0F, i < n);
  }}
}};
}}
void unit_{number}(const Device& device, const Buffer<f32>& in, Buffer<f32>& out) {{
  device.launch(Kernel{number}{{}}, grid(4), in, out, 1000);
}}
"""
PLAIN = """#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <vector>
int unit_{number}(const std::string& text) {{
  std::map<std::string, std::vector<int>> found;
  const std::regex word("[a-z]+{line}");
  for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at) found[at->str()].push_back({line});
  for (auto& [name, numbers] : found) std::sort(numbers.begin(), numbers.end());
  std::cout << found.size();
  return static_cast<int>(found.size());
}}
"""


def is_kernel(number):
    return number % 2 == 0


def write_unit(project, number, line):
    with open(os.path.join(project, f"unit_{number}.cpp"), "w", encoding="ascii") as file:
        file.write((KERNEL if is_kernel(number) else PLAIN).format(number=number, line=line))


def make_project(project):
    for number in range(UNITS):
        write_unit(project, number, 1)
    declared, called = [], []
    for number in range(UNITS):
        if is_kernel(number):
            declared.append(f"void unit_{number}(const Device&, const Buffer<f32>&, Buffer<f32>&);")
            called.append(f"  unit_{number}(device, in, out);")
        else:
            declared.append(f"int unit_{number}(const std::string&);")
            called.append(f'  unit_{number}("some words");')
    with open(os.path.join(project, "main.cpp"), "w", encoding="ascii") as file:
        file.write('#include <string>\n#include "teeny/teeny.hpp"\nusing namespace teeny;\n' + "\n".join(declared) +
                   "\nint main_on(Program& program) {\n  const Device device = program.device();\n"
                   "  Buffer<f32> in = device.buffer<f32>(1000), out = device.buffer<f32>(1000);\n" +
                   "\n".join(called) + "\n  return 0;\n}\n"
                   "int main(int argc, char** argv) { return teeny::run(argc, argv, main_on); }\n")
    with open(os.path.join(project, "CMakeLists.txt"), "w", encoding="ascii") as file:
        file.write("cmake_minimum_required(VERSION 3.25)\nproject(app LANGUAGES CXX)\nfind_package(teeny REQUIRED)\n"
                   "add_executable(app main.cpp " + " ".join(f"unit_{n}.cpp" for n in range(UNITS)) + ")\n"
                   "target_link_libraries(app PRIVATE teeny::teeny)\n")


def main():
    teeny = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(ROOT, "build", "bin", "teeny")
    target = sys.argv[2] if len(sys.argv) > 2 else "jetson-orin-nano"
    environment = dict(os.environ, CCACHE_DISABLE="1")
    environment.pop("CMAKE_CXX_COMPILER_LAUNCHER", None)

    with tempfile.TemporaryDirectory(prefix="teeny-check-") as project:
        make_project(project)

        def seconds(command):
            start = time.perf_counter()
            result = subprocess.run([teeny, command, "--target", target], cwd=project, env=environment,
                                    capture_output=True, text=True, check=False)
            if result.returncode != 0:
                sys.exit(f"teeny {command} ended with {result.returncode}\n{result.stderr[-4000:]}")
            return time.perf_counter() - start

        def cold(command):
            shutil.rmtree(os.path.join(project, "build"), ignore_errors=True)
            return seconds(command)

        cold_build = cold("build")
        cold_check = cold("check")
        seconds("build")
        changed = {}
        line = 1
        for name, number in (("with a kernel", 0), ("without", 1)):
            for command in ("build", "check"):
                times = []
                for _ in range(RUNS):
                    line += 1
                    write_unit(project, number, line)
                    times.append(seconds(command))
                changed[name, command] = statistics.median(times)

    rows = [("check from nothing / build from nothing", cold_check, cold_build, 1.8)]
    for name in ("with a kernel", "without"):
        check = changed[name, "check"]
        rows.append((f"check after a change in a unit {name} / build from nothing", check, cold_build, 1 / 3))
        rows.append((f"check after a change in a unit {name} / build after it", check, changed[name, "build"], 1.5))
    print("| | seconds | seconds | ratio | at most |\n|---|---|---|---|---|")
    for name, ours, theirs, goal in rows:
        print(f"| {name} | {ours:.2f} | {theirs:.2f} | {ours / theirs:.2f} | {goal:.2f} |")
    return 0 if all(ours / theirs <= goal for _, ours, theirs, goal in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

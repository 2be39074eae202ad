#!/usr/bin/env python3
"""Each program beside this file must not compile, and the first error must say why.

compile_fail_test.py INCLUDE_DIR COMPILER... [--only NAME]

The first line of a program is `// expect: REGEX`; it is searched for in the first line of the
compiler's output that holds "error:". With -DFIXED the same program must compile without a warning
(asked of the first compiler only), so that nothing but the fault shown can be what is refused.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow"]


def precompile(compiler, include, directory):
    """The language's header, read once for all programs; the words that make a compiler take it."""
    header = os.path.join(include, "teeny", "kernel.hpp")
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    clang = "clang" in version
    place = os.path.join(directory, "clang" if clang else "gcc", "teeny")
    os.makedirs(place)
    output = os.path.join(place, "kernel.hpp" + (".pch" if clang else ".gch"))
    made = subprocess.run([compiler, *FLAGS, "-I", include, "-x", "c++-header", header, "-o", output],
                          capture_output=True, text=True, check=False)
    if made.returncode != 0:
        sys.exit(f"{compiler} cannot precompile {header}:\n{made.stderr[:4000]}")
    return ["-include-pch", output] if clang else ["-I", os.path.dirname(place)]


def compile_program(compiler, include, program, fixed):
    command = [*compiler, *FLAGS, "-fsyntax-only", "-I", include,
               *(["-DFIXED", "-Werror"] if fixed else []), str(program)]
    environment = dict(os.environ, LC_ALL="C")
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    return run.returncode, run.stdout + run.stderr


def check(compiler, include, program, control):
    head = program.read_text(encoding="utf-8").splitlines()[0]
    if not head.startswith("// expect: "):
        return f"{program.name}: wanted a first line `// expect: REGEX`, found {head!r}"
    expected = head[len("// expect: "):]
    where = f"{program.name}, {compiler[0]}"
    code, output = compile_program(compiler, include, program, fixed=True) if control else (0, "")
    if code != 0:
        return f"{where}: does not compile with -DFIXED either:\n{output[:4000]}"
    code, output = compile_program(compiler, include, program, fixed=False)
    if code == 0:
        return f"{where}: compiles, but should not"
    first = next((line for line in output.splitlines() if "error:" in line), "")
    if not re.search(expected, first):
        return f"{where}: the first error line is\n    {first}\n  wanted in it\n    {expected}"
    return None


def main():
    words = sys.argv[1:]
    only = None
    if "--only" in words:
        at = words.index("--only")
        only = words[at + 1]
        del words[at:at + 2]
    include, compilers = words[0], words[1:]
    here = pathlib.Path(__file__).resolve().parent
    programs = [p for p in sorted(here.glob("*.cpp")) if only in (None, p.stem)]
    if not programs or not compilers:
        print("no programs or no compilers to test with")
        return 1
    with (tempfile.TemporaryDirectory() as directory,
          concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool):
        commands = list(pool.map(lambda each: [each, *precompile(each, include, directory)], compilers))
        jobs = [(command, include, program, command is commands[0])
                for program in programs for command in commands]
        failures = [text for text in pool.map(lambda job: check(*job), jobs) if text]
    for text in failures:
        print(text)
    print(f"{len(programs)} programs, {len(compilers)} compilers, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

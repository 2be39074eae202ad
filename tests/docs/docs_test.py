#!/usr/bin/env python3
"""Compiles every ```cpp block of a document: docs_test.py INCLUDE_DIR COMPILER DOCUMENT...

The blocks of a document become one program, each in a namespace of its own, after the public header;
all see what the first one declares.
Errors are reported at the document's own lines.
"""
import pathlib
import subprocess
import sys

FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-x", "c++", "-"]


def program_of(document):
    """The program's text and how many blocks it holds."""
    lines = ['#include "teeny/teeny.hpp"', "#include <string>", "#include <tuple>", "#include <vector>"]
    blocks = 0
    inside = False
    for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), start=1):
        if not inside and line.strip() == "```cpp":
            inside = True
            blocks += 1
            first = "using namespace block1;" if blocks > 1 else ""
            lines.append(f"namespace block{blocks} {{ using namespace teeny; {first}")
            lines.append(f'#line {number + 1} "{document.name}"')
        elif inside and line.strip() == "```":
            inside = False
            lines.append("}")
        elif inside:
            lines.append(line)
    return "\n".join(lines) + "\n", blocks


def main():
    include, compiler, *documents = sys.argv[1:]
    failures = 0
    for path in map(pathlib.Path, documents):
        text, blocks = program_of(path)
        if blocks == 0:
            print(f"{path}: no block to compile")
            failures += 1
            continue
        run = subprocess.run([compiler, "-I", include, *FLAGS], input=text, text=True, check=False)
        print(f"{path.name}: {blocks} blocks, {'compile' if run.returncode == 0 else 'FAIL'}")
        failures += run.returncode != 0
    return 1 if failures or not documents else 0


if __name__ == "__main__":
    sys.exit(main())

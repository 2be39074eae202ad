"""Every tracked C++ file is as clang-format 19 writes it."""

import os
import shutil
import subprocess
import sys

SOURCE_DIR = os.environ.get(
    "TEENY_SOURCE_DIR", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def main():
    formatter = shutil.which("clang-format-19")
    if formatter is None:
        print("no clang-format-19 on PATH: run ./setup")
        return 1
    listed = subprocess.run(
        ["git", "-C", SOURCE_DIR, "ls-files", "-z", "--", "*.cpp", "*.hpp"],
        capture_output=True, check=True).stdout
    files = [os.path.join(os.fsencode(SOURCE_DIR), name) for name in listed.split(b"\0") if name]
    files = [name for name in files if os.path.exists(name)]
    if not files:
        print("git lists no C++ file")
        return 1
    return subprocess.run([formatter, "--dry-run", "-Werror", "--", *files]).returncode


if __name__ == "__main__":
    sys.exit(main())

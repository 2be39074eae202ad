#!/usr/bin/env python3
"""What programs need of the C and the C++ library: check_needs.py [--static] PROGRAM...

Ubuntu 22.04, the oldest system that a release is for, has GLIBC_2.35 and GLIBCXX_3.4.30. With --static
nothing but the C library's own files may be needed at all. Exits 1 naming what is beyond.
"""

import re
import subprocess
import sys

HIGHEST = {"GLIBC": (2, 35), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)}
C_LIBRARY = re.compile(r"^(libc\.so\.6|libm\.so\.6|libdl\.so\.2|librt\.so\.1|libpthread\.so\.0|ld-linux-.*)$")


def readelf(flag, program):
    return subprocess.run(["readelf", "--wide", flag, program], check=True, capture_output=True, text=True,
                          env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}).stdout


def versions(program):
    """Name of a version -> the highest number of it that the program needs."""
    found = {}
    # The versions a file defines are named in the same words, in another table.
    needs = readelf("--version-info", program).partition("Version needs section")[2]
    for name, number in re.findall(r"Name: (\w+?)_([\d.]+)\b", needs):
        value = tuple(int(part) for part in number.split("."))
        found[name] = max(found.get(name, ()), value)
    return found


def problems(program, static):
    found = versions(program)
    if "GLIBC" not in found:
        yield f"{program}: readelf tells of no GLIBC version"
    for name, value in sorted(found.items()):
        number = ".".join(str(part) for part in value)
        if name not in HIGHEST:
            if not static:
                continue  # of a library that a release does not need
            yield f"{program} needs {name}_{number}, a version that is not known here"
        elif value > HIGHEST[name]:
            yield f"{program} needs {name}_{number}; Ubuntu 22.04 has at most " + ".".join(map(str, HIGHEST[name]))
    if static:
        for library in re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("--dynamic", program)):
            if not C_LIBRARY.match(library):
                yield f"{program} needs {library}, which a bare system lacks"


def main():
    static = "--static" in sys.argv
    programs = [word for word in sys.argv[1:] if word != "--static"]
    if not programs:
        sys.exit(__doc__)
    found = [problem for program in programs for problem in problems(program, static)]
    print("\n".join(found) or "\n".join(f"{program}: {versions(program)}" for program in programs))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

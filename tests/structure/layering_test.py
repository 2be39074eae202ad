"""The order of the rooms, as the includes show it.

A room of the board wing includes itself and the rooms below it. LLVM and lld are seen by
src/compiler alone, the command line and TOML libraries by src/tool alone, and no header of the
board wing includes a third party. Planted violations are checked first, so that this test can fail.
"""

import os
import re
import sys

SOURCE_DIR = os.environ.get(
    "TEENY_SOURCE_DIR", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

ROOMS = ["base", "target", "ir", "lang", "cache", "runtime", "kernels", "weights", "graph", "nn"]
# The two programs see the board wing and themselves; teenyc only what a compiler needs of it: what
# an artifact and the wire look like is said once, in the client's room, cache.
PROGRAM_ROOMS = {
    "compiler": {"base", "target", "ir", "cache"},
    "tool": set(ROOMS),
}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*(?:include|import)[ \t]*[<"]([^>"]+)[>"]', re.MULTILINE)
LLVM = re.compile(r"^(llvm|llvm-c|lld|clang)/")
TOOL_ONLY = re.compile(r"^(CLI/|toml\+\+/|toml\.hpp$)")
THIRD_PARTY = re.compile(r"^(nlohmann/|fmt/|stb)")


def room_of(path):
    """(program or 'wing' or 'face', room) of a source file, or None for files outside both trees."""
    parts = path.split("/")
    if parts[0] == "src" and len(parts) > 2:
        return ("program" if parts[1] in PROGRAM_ROOMS else "wing", parts[1])
    if parts[:2] == ["include", "teeny"]:
        return ("wing", parts[2]) if len(parts) > 3 else ("face", "")
    return None


def violations(path, text):
    """Lines that say which include of `path` breaks a rule."""
    place = room_of(path)
    header = path.endswith(".hpp")
    for match in INCLUDE.finditer(text):
        target = match.group(1)
        said = f"{path} includes {target}: "
        if LLVM.match(target) and not path.startswith(("src/compiler/", "tests/compiler/")):
            yield said + "LLVM and lld belong to src/compiler alone"
        if TOOL_ONLY.match(target) and not path.startswith(("src/tool/", "tests/tool/")):
            yield said + "command line and TOML libraries belong to src/tool alone"
        if place is None:
            continue
        kind, room = place
        if kind != "program" and header and THIRD_PARTY.match(target):
            yield said + "no header of the board wing includes a third party"
        parts = target.split("/")
        if kind == "wing":
            if room not in ROOMS:
                yield f"{path}: {room} is no room of the board wing; ROOMS lists them"
                return
            if parts[0] in PROGRAM_ROOMS:
                yield said + f"{room} lies below the program {parts[0]}"
            if parts[0] == "teeny" and len(parts) > 2:
                if parts[1] not in ROOMS or ROOMS.index(parts[1]) > ROOMS.index(room):
                    yield said + f"{parts[1]} is not below {room}"
            # A room may carry out what the face declares: program.cpp includes teeny/program.hpp.
            own = os.path.splitext(parts[-1])[0] == os.path.splitext(os.path.basename(path))[0]
            if parts[0] == "teeny" and len(parts) == 2 and (header or not own):
                yield said + f"the public face is above {room}"
            if parts[0] in ROOMS and len(parts) > 1 and ROOMS.index(parts[0]) > ROOMS.index(room):
                yield said + f"{parts[0]} is not below {room}"
        elif kind == "program":
            if parts[0] in PROGRAM_ROOMS and parts[0] != room:
                yield said + f"the program {room} does not see into {parts[0]}"
            if parts[0] == "teeny":
                allowed = PROGRAM_ROOMS[room]
                if room == "compiler" and (len(parts) < 3 or parts[1] not in allowed):
                    yield said + f"{room} sees only {', '.join(sorted(allowed))}"


def sources():
    for top in ("src", "include", "tests", "examples", "bench"):
        for directory, _, names in os.walk(os.path.join(SOURCE_DIR, top)):
            for name in names:
                if name.endswith((".hpp", ".cpp", ".h", ".inc")):
                    yield os.path.relpath(os.path.join(directory, name), SOURCE_DIR)


PLANTED = [
    ("src/base/a.cpp", '#include "teeny/target/capability.hpp"\n'),
    ("include/teeny/ir/a.hpp", '#include "teeny/lang/tile.hpp"\n'),
    ("include/teeny/lang/a.hpp", '  #  include <teeny/runtime/device.hpp>\n'),
    ("src/runtime/cuda/a.cpp", '#include "teeny/teeny.hpp"\n'),
    ("src/ir/a.cpp", "#include <llvm/IR/Module.h>\n"),
    ("src/tool/a.cpp", '#include "llvm/Support/Error.h"\n'),
    ("tests/cache/a_test.cpp", "#include <lld/Common/Driver.h>\n"),
    ("src/cache/a.cpp", "#include <CLI/CLI.hpp>\n"),
    ("src/compiler/a.cpp", "#include <toml++/toml.h>\n"),
    ("include/teeny/cache/a.hpp", "#include <nlohmann/json.hpp>\n"),
    ("include/teeny/program.hpp", "#include <fmt/format.h>\n"),
    ("src/base/a.hpp", "#include <fmt/core.h>\n"),
    ("src/compiler/a.cpp", '#include "teeny/lang/tile.hpp"\n'),
    ("src/compiler/a.cpp", '#include "tool/project/cmake.hpp"\n'),
    ("src/cache/a.cpp", '#include "compiler/identity.hpp"\n'),
    ("src/attic/a.cpp", '#include "teeny/base/error.hpp"\n'),
]
ALLOWED = [
    ("src/compiler/a.cpp", '#include <llvm/IR/Module.h>\n#include "teeny/ir/op.hpp"\n'),
    ("src/tool/a.cpp", '#include <CLI/CLI.hpp>\n#include "teeny/teeny.hpp"\n'),
    ("src/cache/a.cpp", '#include <nlohmann/json.hpp>\n#include "teeny/base/error.hpp"\n'),
    ("src/runtime/program.cpp", '#include "teeny/program.hpp"\n'),
    ("include/teeny/teeny.hpp", '#include "teeny/runtime/device.hpp"\n'),
    ("examples/x/main.cpp", '#include "teeny/teeny.hpp"\n'),
]


def main():
    for path, text in PLANTED:
        if not list(violations(path, text)):
            sys.exit(f"the check is blind: it let pass {path} with {text.strip()}")
    for path, text in ALLOWED:
        if list(violations(path, text)):
            sys.exit(f"the check is too strict: {list(violations(path, text))[0]}")
    found = []
    count = 0
    for path in sources():
        count += 1
        with open(os.path.join(SOURCE_DIR, path), encoding="utf-8") as file:
            found += violations(path, file.read())
    if found:
        sys.exit("\n".join(found))
    if count < 10:
        sys.exit(f"only {count} source files found below {SOURCE_DIR}: is it the checkout?")
    print(f"{count} files keep the order of the rooms; {len(PLANTED)} planted violations were found")


if __name__ == "__main__":
    main()

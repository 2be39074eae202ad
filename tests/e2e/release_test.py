"""What `cpack` packs of this build: all that an installed teeny needs, nothing of this machine, and no
version of a system library beyond that of Ubuntu 22.04. Making a real release and trying it in bare
systems is tests/release/run.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tarfile
import unittest

import e2e_support as e2e

NEEDS = os.path.join(e2e.SOURCE_DIR, "tests", "release", "check_needs.py")
WING = "base target ir lang cache runtime kernels weights graph nn".split()


def in_repository(folder, *suffixes):
    """The files of a folder with those suffixes, relative to the repository."""
    found = set()
    for top, _, names in os.walk(os.path.join(e2e.SOURCE_DIR, folder)):
        found |= {os.path.relpath(os.path.join(top, name), e2e.SOURCE_DIR) for name in names
                  if name.endswith(suffixes)}
    return found


class Release(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = e2e.scratch("release é")
        cls.addClassCleanup(shutil.rmtree, cls.work, ignore_errors=True)
        config = os.path.join(e2e.BUILD_DIR, "CPackConfig.cmake")
        e2e.must(["cpack", "--config", config, "-G", "TGZ;DEB", "-B", cls.work], cwd=e2e.BUILD_DIR)
        (archive,) = glob.glob(os.path.join(glob.escape(cls.work), "*.tar.gz"))
        with tarfile.open(archive) as tar:
            cls.members = {member.name.partition("/")[2]: member for member in tar.getmembers()}
            cls.files = {name: tar.extractfile(member).read() for name, member in cls.members.items()
                         if member.isfile()}

    def test_all_that_an_installed_teeny_needs_is_there(self):
        wanted = {"bin/teeny", "bin/teenyc", "bin/teenyc.identity", "lib/cmake/teeny/teenyConfig.cmake",
                  "lib/cmake/teeny/teenyConfigVersion.cmake", "share/teeny/cmake/BoardWing.cmake",
                  "share/teeny/assemblers/fetch.py", "share/teeny/assemblers/pinned.txt",
                  "share/teeny/third_party/include/nlohmann/json.hpp",
                  "share/teeny/third_party/include/fmt/format.h", "share/doc/teeny/LICENSE",
                  "share/doc/teeny/docs/formats.md", "share/bash-completion/completions/teeny"}
        for room in WING:
            wanted |= {"share/teeny/" + name for name in in_repository("src/" + room, ".cpp", ".hpp")}
        wanted |= {"share/teeny/" + name for name in in_repository("include", ".hpp")}
        wanted |= {"share/teeny/" + name for name in in_repository("boards", ".toml")}
        wanted |= {"share/teeny/" + name for name in in_repository("cmake/toolchains", ".cmake")}
        self.assertEqual(sorted(wanted - set(self.files)), [])
        for name in ("bin/teeny", "bin/teenyc", "share/teeny/assemblers/fetch.py"):
            self.assertEqual(self.members[name].mode & 0o777, 0o755, name)

    def test_nothing_of_the_programs_sources_and_of_this_machine_is(self):
        inside = [name for name in self.files if name.startswith(("share/teeny/src/tool", "share/teeny/src/compiler"))]
        self.assertEqual(inside, [])
        links = [name for name, member in self.members.items() if member.issym() or member.islnk()]
        self.assertEqual(links, [])
        leaks = [name for name, data in self.files.items() if e2e.holds_path(data, e2e.SOURCE_DIR)]
        self.assertEqual(leaks, [])

    def test_the_completions_are_those_of_the_tool(self):
        said = e2e.must([e2e.TEENY, "completions", "bash"]).stdout
        self.assertEqual(self.files["share/bash-completion/completions/teeny"].decode(), said)

    def test_the_programs_need_no_newer_libraries_than_ubuntu_22_04_has(self):
        checked = e2e.run([sys.executable, NEEDS, e2e.TEENY, e2e.program("teenyc")])
        self.assertEqual(checked.returncode, 0, checked.stdout)
        self.assertIn("'GLIBC': (2, ", checked.stdout)

    def test_a_program_that_needs_more_is_found(self):
        strict = os.path.join(self.work, "strict.py")
        with open(NEEDS, encoding="utf-8") as file:
            text = file.read()
        with open(strict, "w", encoding="utf-8") as file:
            file.write(text.replace('"GLIBC": (2, 35)', '"GLIBC": (2, 30)'))
        checked = e2e.run([sys.executable, strict, e2e.TEENY])
        self.assertEqual(checked.returncode, 1)
        self.assertRegex(checked.stdout, r"needs GLIBC_2\.3\d; Ubuntu 22\.04 has at most 2\.30")

    def test_the_debian_package_says_what_it_is(self):
        (package,) = glob.glob(os.path.join(glob.escape(self.work), "*.deb"))
        fields = e2e.must(["dpkg-deb", "--field", package]).stdout
        with open(os.path.join(e2e.SOURCE_DIR, "CMakeLists.txt"), encoding="utf-8") as file:
            version = re.search(r"project\(teeny VERSION ([\d.]+)", file.read()).group(1)
        self.assertIn("Package: teeny\n", fields)
        self.assertIn(f"Version: {version}\n", fields)
        architecture = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True)
        self.assertIn(f"Architecture: {architecture.stdout}", fields)
        self.assertRegex(fields, r"Depends: .*\blibc6 \(>= 2\.\d+\)")
        self.assertRegex(fields, r"Recommends: .*\bcmake\b.*\bopenssh-client\b")
        listed = e2e.must(["dpkg-deb", "--contents", package]).stdout
        self.assertIn(" ./usr/bin/teeny\n", listed)
        self.assertIn(" ./usr/share/bash-completion/completions/teeny\n", listed)


if __name__ == "__main__":
    e2e.main()

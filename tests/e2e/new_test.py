"""A new user's project, from `teeny new` to its kernels, by an installed teeny on a path with a space and an é.

One project, one build of each kind: build, check, clippy and aot take what they leave out from its
teeny.toml, each from another directory in it. What `check` compiles is counted, not timed.
"""

import os
import re
import shutil
import unittest

import e2e_support as e2e

TARGET = "jetson-orin-nano" if shutil.which("aarch64-linux-gnu-g++") else "rtx-desktop"
PLAIN = "int plain() { return 1; }\n"


class New(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = e2e.scratch("a new projé ct")
        prefix = e2e.installed_prefix()
        cls.tool = os.path.join(prefix, "bin", "teeny")
        cls.project = os.path.join(cls.work, "dé mo")
        cls.made = cls.teeny("new", "demo", "--target", TARGET, "--dir", cls.project, where=cls.work)
        cls.inside = os.path.join(cls.project, "src", "déep er")
        os.makedirs(cls.inside)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.work)

    @classmethod
    def teeny(cls, *words, where=None):
        return e2e.run([cls.tool, *words], cwd=where or cls.project)

    def good(self, *words, where=None):
        result = self.teeny(*words, where=where)
        self.assertEqual(result.returncode, 0, result.stderr + result.stdout)
        return result

    def write(self, name, text):
        with open(os.path.join(self.project, name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.project, name), encoding="utf-8") as file:
            return file.read()

    def compiled(self, tree):
        """Object of the project's own -> when it was written, in one build tree."""
        top = os.path.join(self.project, "build", "teeny", tree, "CMakeFiles", "demo.dir")
        return {name: os.stat(os.path.join(top, name)).st_mtime_ns
                for name in os.listdir(top) if name.endswith(".o")}

    def test_1_new_writes_a_project_and_nothing_over_another(self):
        self.assertEqual(self.made.returncode, 0, self.made.stderr)
        self.assertEqual(self.made.stdout.strip(), self.project)
        again = self.teeny("new", "demo", "--dir", self.project)
        self.assertEqual((again.returncode, again.stdout), (2, ""))
        self.assertIn("not empty", again.stderr)
        self.assertEqual(self.teeny("new", "a::b", where=self.work).returncode, 2)

    def test_2_build_for_the_board_of_teeny_toml(self):
        result = self.good("build", where=self.inside)
        self.assertIn(f'package.target = "{TARGET}" (from {self.project}/teeny.toml)', result.stderr)
        built = result.stdout.strip()
        self.assertTrue(built.startswith(os.path.join(self.project, "build", "teeny")), built)
        if TARGET == "jetson-orin-nano":
            with open(built, "rb") as file:
                self.assertEqual(file.read(20)[18], 183)  # EM_AARCH64

    def test_3_check_compiles_what_is_needed(self):
        lists = self.read("CMakeLists.txt")
        self.write("plain.cpp", PLAIN)
        self.write("CMakeLists.txt", lists.replace("main.cpp)", "main.cpp plain.cpp)"))
        check = f"{TARGET}-check"
        result = self.good("check", where=self.inside)
        self.assertIn("2 source files type-check", result.stderr)
        self.assertIn("1 kernels trace, verify and compile", result.stderr)
        # Nothing of teeny's own is the user's to check.
        self.assertNotIn("Unity", result.stderr)
        before = (self.compiled(check), self.compiled("host-release"))
        self.assertEqual(sorted(before[0]), ["main.cpp.o", "plain.cpp.o"])
        self.good("check")
        self.assertEqual((self.compiled(check), self.compiled("host-release")), before)
        # A unit without kernels: one front end, and nothing is built for the trace.
        self.write("plain.cpp", PLAIN + "int more() { return 2; }\n")
        self.good("check")
        after = (self.compiled(check), self.compiled("host-release"))
        self.assertEqual(after[1], before[1])
        self.assertEqual(changed(before[0], after[0]), ["plain.cpp.o"])
        # A kernel: one front end and one compilation (with that of the other, which is due by now).
        self.write("main.cpp", self.read("main.cpp").replace("* a +", "* a * 1.0F +"))
        self.good("check")
        last = (self.compiled(check), self.compiled("host-release"))
        self.assertEqual(changed(after[0], last[0]), ["main.cpp.o"])
        self.assertEqual(changed(after[1], last[1]), ["main.cpp.o", "plain.cpp.o"])

    def test_4_check_finds_what_is_wrong(self):
        source = self.read("main.cpp")
        self.addCleanup(self.write, "main.cpp", source)
        self.write("main.cpp", source.replace("Ptr<T> y, Int n", "Ptr<T> y, Int m"))
        result = self.teeny("check")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, "main.cpp:.*error: .n. was not declared")

    def test_5_clippy_finds_what_is_planted_in_a_kernel(self):
        result = self.good("clippy", where=self.inside)
        self.assertIn("finds nothing", result.stderr)
        source = self.read("main.cpp")
        self.addCleanup(self.write, "main.cpp", source)
        self.write("main.cpp", source.replace("    auto inside = i < n;", "    int unused = 3;\n    auto inside = i < n;"))
        result = self.teeny("clippy")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("main.cpp:", result.stdout)
        self.assertIn("unused", result.stdout)
        files = {line.split(":")[0] for line in result.stdout.splitlines() if ": warning: " in line}
        self.assertEqual(files, {os.path.join(self.project, "main.cpp")})
        # The project's own file says which checks are meant.
        self.addCleanup(os.remove, os.path.join(self.project, ".clang-tidy"))
        self.write(".clang-tidy", "Checks: '-*,bugprone-assert-side-effect'\n")
        self.good("clippy", "--bin", "demo")

    def test_6_aot_and_a_run_here(self):
        cache = os.path.join(self.work, "kerné ls")
        result = self.good("aot", "--bin", "demo", "--device", "cpu", "--cache-dir", cache, where=self.inside)
        self.assertRegex(result.stdout, r"Axpy<float, 256> .* shared object ")
        program = os.path.join(self.project, "build", "teeny", "host-release", "demo")
        result = e2e.must([program, "--on", "cpu", "--cache-dir", cache, "1000"])
        self.assertRegex(result.stdout, r"1000 elements on .*, 0 wrong")
        # Devices and program of teeny.toml, for its board.
        result = self.good("aot", "--cache-dir", cache)
        self.assertIn('package.bins = ["demo"]', result.stderr)
        self.assertRegex(result.stdout, r"Axpy.*sm_")

    def test_7_what_is_missing_is_said_before_anything_is_built(self):
        text = self.read("teeny.toml")
        self.addCleanup(self.write, "teeny.toml", text)
        self.write("teeny.toml", re.sub("(?m)^target.*$", "", text))
        shutil.rmtree(os.path.join(self.project, "build"))
        for words in (["build"], ["check"], ["clippy"], ["package"], ["deploy"], ["run"], ["preflight"]):
            result = self.teeny(*words)
            self.assertEqual((result.returncode, result.stdout), (2, ""), words)
        self.write("teeny.toml", text.replace("target =", "tarjet ="))
        result = self.teeny("build")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"teeny\.toml:\d+:1: package\.tarjet .*did you mean target\?")
        self.assertFalse(os.path.exists(os.path.join(self.project, "build")))


def changed(before, after):
    return sorted(name for name in after if before.get(name) != after[name])


if __name__ == "__main__":
    e2e.main()

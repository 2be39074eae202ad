"""The tool's command line as a user types it: what is wrong is said at once, with nothing built.

P07: a bad capability exits 2, names the option and the choices, and starts no child process.
P09, P10: no silent default, no "native".
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = os.environ["TEENY_BUILD_DIR"]
SOURCE = os.environ["TEENY_SOURCE_DIR"]
TEENY = os.path.join(BUILD, "bin", "teeny")
AWKWARD = "a project 'é $HOME x"

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(demo LANGUAGES CXX)
add_executable(app app.cpp)
"""

BLACKWELL = """schema = 1
name = "blackwell"
description = "a card of compute capability 12.0"
triple = "x86_64-linux-gnu"
cpu = "x86-64-v3"
memory_mib = 16384
[cuda]
capability = "sm_120"
integrated = false
multiprocessors = 84
shared_memory_kib = 99
target_directory = "x86_64-linux"
[[generation]]
name = "24.04"
os = "Ubuntu 24.04"
glibc = "2.39"
glibcxx = "3.4.33"
driver = "13.0"
"""


class ToolCommandLine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = tempfile.mkdtemp(prefix="teeny cli ")
        cls.project = os.path.join(cls.base, AWKWARD)
        os.makedirs(cls.project)
        with open(os.path.join(cls.project, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write(PROJECT)
        with open(os.path.join(cls.project, "app.cpp"), "w", encoding="utf-8") as file:
            file.write("int main() {}\n")
        cls.blackwell = os.path.join(cls.project, "black well.toml")
        with open(cls.blackwell, "w", encoding="utf-8") as file:
            file.write(BLACKWELL)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.base)

    def teeny(self, *words, **environment):
        env = {k: v for k, v in os.environ.items() if k not in ("TEENYC_PTX_VERSION", "TEENYC_PATH")}
        env.update(environment)
        return subprocess.run([TEENY, *words], cwd=self.project, env=env, capture_output=True,
                              text=True, timeout=60, check=False)

    def refused(self, *words, says=(), **environment):
        result = self.teeny(*words, **environment)
        self.assertEqual(result.returncode, 2, result.stderr + result.stdout)
        for part in says:
            self.assertIn(part, result.stderr)
        self.assertEqual(result.stdout, "")
        # Nothing was configured, built or packaged.
        self.assertFalse(os.path.exists(os.path.join(self.project, "build")), words)
        return result

    def package(self, target, *devices, says=(), **environment):
        return self.refused("package", "--target", target, "--bin", "app", *devices, says=says,
                            **environment)

    def test_P07_capability(self):
        self.package("jetson-orin-nano", "--device", "cuda", "--options", "capability=sm_88x",
                     says=["capability", "sm_88x", "sm_87", "sm_90"])
        self.package("jetson-orin-nano", "--device", "cuda", "--options", "capability=sm_89",
                     says=["sm_89", "jetson-orin-nano@6.0", "sm_87"])
        self.refused("aot", "--bin", "app", "--device", "cuda", "--options", "capability=sm_88x",
                     says=["capability", "sm_88x", "sm_87"])

    def test_P09_no_silent_default(self):
        self.refused("aot", "--bin", "app", "--device", "cuda", says=["capability="])
        self.refused("aot", "--bin", "app", says=["--device"])
        self.package("generic-aarch64", "--device", "cuda", says=["capability"])

    def test_P10_native(self):
        self.package("jetson-orin-nano", "--device", "cuda", "--options", "capability=native",
                     says=["native", "--target"])

    def test_ptx_version_bounds(self):
        for target, options, says in (
                ("jetson-orin-nano", "capability=sm_87,ptx-version=99", ["ptx-version", "9.9"]),
                ("jetson-orin-nano", "capability=sm_87,ptx-version=73", ["7.3", "7.4", "floor", "sm_87"]),
                ("jetson-orin-nano", "capability=sm_87,ptx-version=85", ["8.5", "8.2", "@6.1"]),
                (self.blackwell, "capability=sm_120,ptx-version=86", ["8.6", "8.7", "floor", "sm_120"])):
            self.package(target, "--device", "cuda", "--options", options, says=says)
        self.refused("aot", "--bin", "app", "--device", "cuda", "--options",
                     "capability=sm_87,ptx-version=99", says=["ptx-version", "ceiling"])
        self.package("jetson-orin-nano", "--device", "cuda", says=["TEENYC_PTX_VERSION", "9.9"],
                     TEENYC_PTX_VERSION="99")

    def test_what_is_right_goes_on_to_the_project(self):
        # 87 works for sm_120, and 82 for the Orin: the next complaint is about the program's name.
        for target, options in ((self.blackwell, "capability=sm_120,ptx-version=87"),
                                ("jetson-orin-nano", "capability=sm_87,ptx-version=82")):
            result = self.teeny("package", "--target", target, "--device", "cuda", "--options", options)
            self.assertEqual(result.returncode, 2)
            self.assertIn("--bin", result.stderr)

    def test_options(self):
        self.package("jetson-orin-nano", "--device", "cuda", "--options", "capabilty=sm_87",
                     says=["capabilty", "did you mean capability", "max-registers"])
        self.package("jetson-orin-nano", "--device", "cuda", "--options", "ptx-version=82,ptx-version=82",
                     says=["ptx-version", "once"])
        self.package("jetson-orin-nano", "--options", "capability=sm_87", "--device", "cuda",
                     says=["no --device before it"])
        self.package("jetson-orin-nano", "--device", "cuda", "--options", "opt-level=1", "--options",
                     "opt-level=2", says=["two --options"])
        self.package("jetson-orin-nano", "--device", "tpu", says=["tpu", "cuda or cpu"])
        self.package("jetson-orin-nano", "--device", "cpu", "--options", "cpu=x86-64-v3",
                     says=["x86_64", "aarch64"])

    def test_boards(self):
        for command in ("build", "check", "package"):
            words = [command, "--target", "jetson-orin"]
            if command == "package":
                words += ["--bin", "app", "--device", "cpu"]
            self.refused(*words, says=["jetson-orin", "jetson-orin-nano", "rtx-desktop"])
        self.refused("build", "--target", "jetson-orin-nano@5.1", says=["5.1", "6.0, 6.1, 6.2, 7.2"])
        self.refused("boards", "jetson-orin-nona", says=["did you mean jetson-orin-nano"])

    def test_command_lines(self):
        self.refused(says=["subcommand"])
        self.refused("biuld", says=["biuld", "did you mean build"])
        self.refused("build", says=["--target"])
        self.refused("build", "--target", "jetson-orin-nano", "--speed", says=["--speed"])
        self.refused("build", "--target", "jetson-orin-nano", "app", says=["app"])
        self.refused("build", "--target", "jetson-orin-nano", "--bin", "a", "--example", "b",
                     says=["--example"])
        self.refused("package", "--target", "jetson-orin-nano", "--bin", "app", "--device", "cpu",
                     "--cache-dir", "x", says=["--cache-dir", "<dest>/cache"])
        self.refused("package", "--target", "jetson-orin-nano", "--bin", "app", "--device", "cpu",
                     "--", "x", says=["--"])
        self.refused("package", "--target", "jetson-orin-nano", "--bin", "app", "--device", "cpu",
                     "--data", "no such file", says=["no such file"])
        self.refused("aot", "--device", "cpu", says=["--bin"])

    def test_deploy_command_lines(self):
        package = os.path.join(self.base, "p")
        os.makedirs(os.path.join(package, "conf"), exist_ok=True)
        manifest = {"schema": "teeny-package/1", "name": "n", "board": "b@1", "triple": "aarch64-linux-gnu",
                    "programs": [], "devices": [], "files": []}
        with open(os.path.join(package, "conf", "manifest.json"), "w", encoding="utf-8") as file:
            json.dump(manifest, file)
        for host in ("-oProxyCommand=true", "a b", "host:path", "", "u@-x"):
            self.refused("deploy", "--package", package, f"--host={host}", says=["--host"])
        self.refused("deploy", "--package", package, "--host", "h", "--ssh", "ssh 'x", says=["--ssh"])
        self.refused("deploy", "--package", package, "--host", "h", "--dest", "/", says=["--dest"])
        self.refused("deploy", "--package", package, "--host", "h", "--keep", "1", says=["--keep 1", "always stay"])
        self.refused("deploy", "--package", package, "--host", "h", "--rollback", "--overwrite",
                     says=["--overwrite"])
        self.refused("deploy", "--host", "h", says=["--package"])
        self.refused("deploy", "--host", "h", "--rollback", says=["--dest", "--package"])
        self.refused("run", "--package", package, "--host", "h", says=["--bin"])
        result = self.teeny("deploy", "--package", self.project, "--host", "h")
        self.assertEqual(result.returncode, 1)
        self.assertIn("manifest.json", result.stderr)

    def quickest(self, words, code):
        """Seconds of processor time, the best of several: the machine may be busy."""
        times = []
        for _ in range(10):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            result = subprocess.run(words, cwd=self.project, capture_output=True, check=False)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            self.assertEqual(result.returncode, code, result.stderr)
        return min(times)

    def test_start_and_usage_errors_are_quick_and_start_nothing(self):
        version = [TEENY, "--version"]
        refused = [TEENY, "package", "--target", "jetson-orin-nano", "--bin", "app", "--device", "cuda",
                   "--options", "capability=sm_88x"]
        self.assertLess(self.quickest(version, 0), 0.03)
        self.assertLess(self.quickest(refused, 2), 0.1)
        strace = shutil.which("strace")
        if strace is None:
            self.skipTest("no strace on this machine")
        for words in (version, refused, [TEENY, "package", "--help"], [TEENY, "completions", "bash"]):
            traced = subprocess.run([strace, "-f", "-e", "trace=process,openat", *words], cwd=self.project,
                                    capture_output=True, text=True, check=False)
            self.assertIn("libc.so", traced.stderr)
            calls = [line for line in traced.stderr.splitlines()
                     if "fork(" in line or "clone(" in line or "clone3(" in line]
            self.assertEqual(calls, [], words)
            self.assertNotIn("libLLVM", traced.stderr, words)

    def test_help_and_version(self):
        result = self.teeny("--version")
        self.assertEqual((result.returncode, result.stdout.split()[0]), (0, "teeny"))
        for command in ("new", "build", "check", "clippy", "aot", "package", "preflight", "deploy", "run",
                        "boards", "inspect", "doctor", "install-toolchain", "completions"):
            result = self.teeny(command, "--help")
            self.assertEqual(result.returncode, 0)
            self.assertIn("Example:\n  teeny " + command, result.stdout)

    def test_boards_as_json(self):
        boards = json.loads(self.teeny("boards", "--json").stdout)
        orin = next(board for board in boards if board["name"] == "jetson-orin-nano")
        self.assertEqual(orin["generation"], "6.0")
        self.assertEqual([g["name"] for g in orin["generations"]], ["6.0", "6.1", "6.2", "7.2"])
        self.assertEqual(json.loads(self.teeny("boards", self.blackwell, "--json").stdout)["name"],
                         "blackwell")

    def test_P40_build_on_an_awkward_path(self):
        self.addCleanup(shutil.rmtree, os.path.join(self.project, "build"), ignore_errors=True)
        result = self.teeny("build", "--target", "rtx-desktop", "--bin", "app")
        self.assertEqual(result.returncode, 0, result.stderr)
        built = result.stdout.strip()
        self.assertTrue(built.startswith(self.project), built)
        self.assertTrue(os.access(built, os.X_OK))
        # Also for another machine, where the cross compiler is.
        if shutil.which("aarch64-linux-gnu-g++"):
            result = self.teeny("build", "--target", "jetson-orin-nano", "--bin", "app")
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(result.stdout.strip(), "rb") as file:
                self.assertEqual(file.read(20)[18], 183)

    def test_a_path_that_cmake_cannot_take(self):
        project = os.path.join(self.base, 'with "quotes"')
        shutil.copytree(self.project, project, ignore=lambda *_: ["build"])
        result = subprocess.run([TEENY, "build", "--target", "jetson-orin-nano"], cwd=project,
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("double quote", result.stderr)


if __name__ == "__main__":
    if not os.access(TEENY, os.X_OK):
        sys.exit(f"{TEENY} is not built")
    unittest.main()

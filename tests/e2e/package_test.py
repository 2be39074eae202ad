"""A package from source to a board: `teeny package` twice, its contents, its runs, `teeny deploy`.

A project with an example of this tree is packaged in two directories, by two installations of teeny,
under another umask, locale, time zone and time: the bytes must be the same. P37: what runs on the board needs no compiler there,
no Python, no environment, no home, nothing to write to.
"""

import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import unittest

import e2e_support as e2e

BUILD = os.environ["TEENY_BUILD_DIR"]
SOURCE = os.environ["TEENY_SOURCE_DIR"]
BOARD = os.path.join(SOURCE, "tests", "board", "board")
WORK = os.path.join(BUILD, "e2e", "package é")
QEMU = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
CROSS_ROOT = "/usr/aarch64-linux-gnu"
DEVICES = ["--device", "cuda", "--options", "capability=sm_87,ptx-version=82", "--device", "cpu"]


CMAKE = """cmake_minimum_required(VERSION 3.25)
project(photographs LANGUAGES CXX)
find_package(teeny REQUIRED)
add_subdirectory(examples)
"""
EXAMPLES = """foreach(name IN ITEMS vector_add differs)
  if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${name}")
    add_executable(${name} ${name}/${name}.cpp)
    target_link_libraries(${name} PRIVATE teeny::teeny)
  endif()
endforeach()
"""


def make_project(name):
    """A user's project, with an example of this tree as its own."""
    root = os.path.join(WORK, name)
    for part in ("vector_add", "common"):
        shutil.copytree(os.path.join(SOURCE, "examples", part), os.path.join(root, "examples", part))
    for path, text in (("CMakeLists.txt", CMAKE), ("examples/CMakeLists.txt", EXAMPLES)):
        with open(os.path.join(root, path), "w", encoding="utf-8") as file:
            file.write(text)
    return root


def teeny(*words, cwd, umask=0o022, prefix=None, **environment):
    """The finished command of an installed teeny."""
    env = {name: value for name, value in e2e.environment().items() if not name.startswith("LC_")}
    env.update(environment)
    return subprocess.run([os.path.join(prefix or e2e.installed_prefix(), "bin", "teeny"), *words], cwd=cwd,
                          env=env, umask=umask, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)


def tree(directory):
    """Path -> (mode, bytes) of everything below a directory."""
    found = {}
    for top, directories, names in os.walk(directory):
        for name in directories + names:
            path = os.path.join(top, name)
            mode = stat.S_IMODE(os.lstat(path).st_mode)
            data = None
            if name in names:
                with open(path, "rb") as file:
                    data = file.read()
            found[os.path.relpath(path, directory)] = (mode, data)
    return found


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(WORK, ignore_errors=True)
        os.makedirs(WORK)
        cls.first = make_project("one")
        cls.add_a_program_that_differs()
        cls.made = teeny("package", "--target", "jetson-orin-nano", "--example", "vector_add", *DEVICES,
                         cwd=cls.first)
        assert cls.made.returncode == 0, cls.made.stderr[-3000:]
        cls.package = os.path.join(cls.first, "build/package/jetson-orin-nano/vector_add")
        with open(os.path.join(cls.package, "conf/manifest.json"), encoding="utf-8") as file:
            cls.manifest = json.load(file)

    @classmethod
    def add_a_program_that_differs(cls):
        """Its kernel is not the same on every machine, which no kernel may be."""
        directory = os.path.join(cls.first, "examples", "differs")
        os.makedirs(directory)
        with open(os.path.join(directory, "differs.cpp"), "w", encoding="utf-8") as file:
            file.write("""
#include "teeny/teeny.hpp"
using namespace teeny;
struct Differs {
  void operator()(Ptr<i32> out) const {
#ifdef __aarch64__
    store(out, full<i32>(1));
#else
    store(out, full<i32>(2));
#endif
  }
};
int main(int argc, char** argv) {
  return run(argc, argv, [](Program& program) {
    auto out = program.device().buffer<i32>(1);
    program.device().launch(Differs{}, grid(1), out);
    return 0;
  });
}
""")

    def under_qemu(self, package, *words, before=(), qemu=(), environment=None):
        if QEMU is None:
            self.skipTest("no qemu-aarch64 on this machine")
        return subprocess.run([*before, QEMU, *qemu, "-L", CROSS_ROOT, os.path.join(package, "bin", "vector_add"),
                               *words], env=environment or {}, capture_output=True, text=True, check=False)

    def test_what_is_told(self):
        self.assertIn("driver=12.2", self.made.stderr)
        self.assertIn("triple=aarch64-linux-gnu,cpu=cortex-a78ae", self.made.stderr)
        self.assertNotIn("--options ptx-version", self.made.stderr)
        self.assertEqual(self.made.stdout.splitlines()[-1], self.package)
        self.assertIn("machine code of sm_87 for driver 12.2: ptxas 12.", self.made.stderr)
        self.assertRegex(self.made.stdout, r"VectorAdd<float, 1024>\s+sm_87 and later\s+PTX 8\.2\s+-\s+-\s+"
                         r"\d+ bytes shared\s+\d+ bytes")
        self.assertRegex(self.made.stdout, r"VectorAdd<float, 1024>\s+sm_87 only\s+machine code, ptxas 12\.\S+"
                         r"\s+\d+ registers\s+0 bytes spilled\s+\d+ bytes shared\s+\d+ bytes")
        self.assertRegex(self.made.stdout, r"VectorAdd<float, 1024>\s+aarch64-linux-gnu cortex-a78ae")

    def test_it_checked_itself(self):
        if QEMU is None:
            self.assertIn("vector_add's own check was not run: this machine is", self.made.stderr)
            return
        self.assertRegex(self.made.stderr, r"vector_add's own check, under /\S*/qemu-aarch64\S*: "
                         r"2 kernels are complete for cuda and cpu, \d+ files are as the manifest says")

    def test_a_kernel_that_is_another_one_on_the_board(self):
        if QEMU is None:
            self.skipTest("no qemu-aarch64 on this machine")
        destination = os.path.join(WORK, "differs")
        result = teeny("package", "--target", "jetson-orin-nano", "--example", "differs", *DEVICES,
                       "--dest", destination, cwd=self.first)
        self.assertEqual(result.returncode, 15, result.stderr[-3000:])
        self.assertIn("kernel Differs: wanted code of fingerprint", result.stderr)
        self.assertRegex(result.stderr, r"the first operation that differs: wanted line \d+: .* # 1\n")
        self.assertRegex(result.stderr, r"kernel\.tir line \d+: .* # 2\n")
        self.assertFalse(os.path.exists(destination))

    def test_P36_the_same_without_an_emulator(self):
        tools = os.path.join(WORK, "tools")
        os.makedirs(tools)
        for directory in reversed(os.environ["PATH"].split(os.pathsep)):
            for name in os.listdir(directory) if os.path.isdir(directory) else ():
                place = os.path.join(tools, name)
                if os.path.lexists(place):
                    os.remove(place)
                if not name.startswith("qemu-"):
                    os.symlink(os.path.join(directory, name), place)
        destination = os.path.join(WORK, "without qemu")
        result = teeny("package", "--target", "jetson-orin-nano", "--example", "vector_add", *DEVICES,
                       "--dest", destination, cwd=self.first, PATH=tools)
        self.assertEqual(result.returncode, 0, result.stderr[-3000:])
        self.assertIn("own check was not run: this machine is x86_64, the board aarch64, and "
                      "qemu-aarch64 is not on PATH", result.stderr)
        self.assertEqual(tree(destination), tree(self.package))

    def test_check_and_inspect_under_emulation(self):
        checked = self.under_qemu(self.package, "--check")
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertIn("VectorAdd<float, 1024>: jetson-orin-nano@6.0: ", checked.stdout)
        board = os.path.join(WORK, "xavier.json")
        with open(board, "w", encoding="utf-8") as file:
            file.write(teeny("boards", "jetson-xavier-nx", "--json", cwd=WORK).stdout)
        refused = self.under_qemu(self.package, "--check", "--board", board)
        self.assertEqual(refused.returncode, 10, refused.stderr)
        self.assertIn("board jetson-xavier-nx@5.1 has 7.2", refused.stderr)
        shown = self.under_qemu(self.package, "--inspect", "VectorAdd<float, 1024>")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        for words in ("teeny-ir 1\nkernel VectorAdd(", ".visible .entry VectorAdd(", "loads on     "):
            self.assertIn(words, shown.stdout)

    def test_layout_and_manifest(self):
        found = tree(self.package)
        self.assertEqual(sorted(p for p in found if "/" not in p), ["bin", "cache", "conf", "data"])
        self.assertEqual(self.manifest["board"], "jetson-orin-nano@6.0")
        self.assertEqual(self.manifest["devices"],
                         [{"device": "cuda", "options": "capability=sm_87,ptx-version=82,driver=12.2"},
                          {"device": "cpu", "options": "triple=aarch64-linux-gnu,cpu=cortex-a78ae"}])
        told = {entry["path"]: entry for entry in self.manifest["files"]}
        files = {path: entry for path, entry in found.items() if entry[1] is not None}
        self.assertEqual(set(told) | {"conf/manifest.json"}, set(files))
        for path, entry in told.items():
            mode, data = files[path]
            self.assertEqual(entry["size"], len(data))
            self.assertEqual(entry["sha256"], hashlib.sha256(data).hexdigest())
            self.assertEqual(entry["mode"], f"{mode:04o}")
        self.assertEqual(list(told), sorted(told))
        for kernel in self.manifest["kernels"]:
            self.assertIn(kernel["artifact"], told)
        self.assertEqual({k["kind"] for k in self.manifest["kernels"]}, {"ptx", "cubin", "so"})
        libraries = set(self.manifest["elf_needs"][0]["libraries"])
        self.assertLessEqual(libraries, {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1",
                                         "ld-linux-aarch64.so.1"})

    def test_no_path_of_this_machine(self):
        for path, (_, data) in tree(self.package).items():
            if data is not None:
                self.assertFalse(e2e.holds_path(data, SOURCE), path)

    def test_twice_is_the_same(self):
        second = make_project("another place with 'quotes' and $HOME")
        prefix = os.path.join(WORK, "another prefix")
        shutil.copytree(e2e.installed_prefix(), prefix, symlinks=True)
        for top in (second, prefix):
            for directory, _, names in os.walk(top):
                for name in names:
                    os.utime(os.path.join(directory, name), (1_000_000_000, 1_000_000_000),
                             follow_symlinks=False)
        package = ["--target", "jetson-orin-nano", "--example", "vector_add", *DEVICES]
        # Every object of the program is compiled anew: a compiler cache would give the first build's
        # back. The program that compiles the kernels on this machine need not be.
        ahead = teeny("aot", *package[2:], "--cache-dir", os.path.join(WORK, "ahead"), cwd=second, prefix=prefix)
        self.assertEqual(ahead.returncode, 0, ahead.stderr[-3000:])
        result = teeny("package", *package, "--dest", os.path.join(WORK, "dest \"ination\""),
                       cwd=os.path.join(second, "examples"), prefix=prefix, umask=0o077, TZ="Asia/Kathmandu",
                       LC_ALL="tr_TR.UTF-8", LANG="de_DE.UTF-8", SOURCE_DATE_EPOCH="1", HOME="/nonexistent",
                       USER="somebody", CCACHE_DISABLE="1")
        self.assertEqual(result.returncode, 0, result.stderr[-3000:])
        self.assertEqual(tree(os.path.join(WORK, "dest \"ination\"")), tree(self.package))

    def test_packaging_again_replaces_what_was_there(self):
        stale = os.path.join(self.package, "data", "stale")
        before = tree(self.package)
        with open(stale, "w", encoding="utf-8") as file:
            file.write("stale")
        result = teeny("package", "--target", "jetson-orin-nano", "--example", "vector_add", *DEVICES,
                       cwd=self.first)
        self.assertEqual(result.returncode, 0, result.stderr[-3000:])
        self.assertEqual(tree(self.package), before)

    def test_P37_runs_with_nothing_around_it(self):
        result = self.under_qemu(self.package, "--on", "cpu")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("ok", result.stdout)
        # Nobody, on a read-only mount.
        if os.geteuid() == 0 and shutil.which("setpriv") and shutil.which("unshare"):
            mount = os.path.join(WORK, "mounted")
            os.makedirs(mount, exist_ok=True)
            script = ('mount --bind "$1" "$2" && mount -o remount,bind,ro "$2" && shift 2 && '
                      'exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"')
            result = self.under_qemu(mount, "--on", "cpu", before=[
                "unshare", "-m", "sh", "-c", script, "sh", self.package, mount],
                environment={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("ok", result.stdout)

    def test_P38_starts_no_child_and_opens_no_compiler(self):
        result = self.under_qemu(self.package, "--on", "cpu", qemu=["-strace"])
        self.assertEqual(result.returncode, 0, result.stderr[-2000:])
        for call in ("execve(", "fork(", "vfork("):
            self.assertNotIn(call, result.stderr)
        for name in ("libLLVM", "teenyc", "liblld"):
            self.assertNotIn(name, result.stderr)
        written = [line for line in result.stderr.splitlines()
                   if "openat(" in line and re.search(r"O_(WRONLY|RDWR|CREAT)", line)
                   and "/dev/" not in line and "/proc/" not in line]
        self.assertEqual(written, [])

    def test_a_kernel_that_is_gone_or_altered(self):
        broken = os.path.join(WORK, "broken")
        kernels = [k for k in self.manifest["kernels"] if k["kind"] == "so"]
        for harm in ("gone", "altered", "cut"):
            shutil.rmtree(broken, ignore_errors=True)
            shutil.copytree(self.package, broken)
            path = os.path.join(broken, kernels[0]["artifact"])
            with open(path, "rb") as file:
                data = bytearray(file.read())
            if harm == "gone":
                os.remove(path)
            else:
                if harm == "altered":
                    data[len(data) // 3] ^= 1
                else:
                    del data[len(data) // 2:]
                with open(path, "wb") as file:
                    file.write(data)
            result = self.under_qemu(broken, "--on", "cpu")
            self.assertNotEqual(result.returncode, 0, harm)
            self.assertIn("VectorAdd", result.stderr, harm)
            checked = self.under_qemu(broken, "--check")
            self.assertEqual(checked.returncode, 15, harm)
            self.assertIn("VectorAdd", checked.stderr, harm)
            # Nor does it leave this machine.
            result = teeny("deploy", "--package", broken, "--host", "nowhere.invalid", cwd=WORK)
            self.assertEqual(result.returncode, 15, result.stderr)

    def test_P37_deployed_it_runs_on_the_board(self):
        directory = os.path.join(WORK, "board")
        started = subprocess.run([BOARD, "start", directory], capture_output=True, text=True, check=False)
        if started.returncode == 77:
            self.skipTest(started.stderr.strip())
        self.assertEqual(started.returncode, 0, started.stderr)
        try:
            config = started.stdout.strip()
            ssh = f"ssh -F '{config}'"
            result = teeny("deploy", "--package", self.package, "--host", "board", "--ssh", ssh, cwd=WORK)
            self.assertEqual(result.returncode, 0, result.stderr)
            there = subprocess.run(
                ["ssh", "-F", config, "board",
                 "for tool in cc gcc g++ clang python3 nvcc ptxas teenyc; do command -v $tool; done; "
                 "env -i teeny/vector_add/current/bin/vector_add --on cpu"],
                capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
            self.assertEqual(there.returncode, 0, there.stderr)
            self.assertNotIn("/bin/", there.stdout)
            self.assertIn("ok", there.stdout)
        finally:
            subprocess.run([BOARD, "stop", directory], check=True)


if __name__ == "__main__":
    unittest.main()

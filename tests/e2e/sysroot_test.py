"""A package for a board whose C library is older than this machine's cross compiler: JetPack 5.

P30: what is built with the sysroot of such a board (Debian 11's packages have its numbers: glibc 2.31,
GLIBCXX 3.4.28) wants no more than it has. The program links a library that only the board has, so
that it cannot be built here; its kernels can, by teeny_add_kernels().

A sysroot of a live board: the emulated one, by rsync over ssh.

Budget: 75 s on two quiet cores, of which 40 are the board wing's build with that sysroot (some seconds
where the compiler cache has it) and 15 the board.
"""

import json
import os
import re
import shutil
import subprocess
import unittest

import e2e_support as e2e

BOARD = "jetson-xavier-nx"
CMAKE = """cmake_minimum_required(VERSION 3.25)
project(robot LANGUAGES CXX)
find_package(teeny REQUIRED)
if(CMAKE_CROSSCOMPILING)
  find_library(CAMERA camera REQUIRED)
  add_executable(robot robot.cpp)
  target_link_libraries(robot PRIVATE teeny::teeny ${CAMERA})
endif()
teeny_add_kernels(robot filter.cpp)
"""
FILTER = """#include "filter.hpp"
using namespace teeny;

template <Element T, int Block>
struct Twice {
  void operator()(Ptr<T> data, Int n) const {
    auto i = program_id(0) * Block + arange<Block>();
    auto inside = i < n;
    store(data + i, load(data + i, inside) * 2.0f, inside);
  }
};

void filter(const Device& device, Buffer<f32>& data, int n) {
  device.launch(Twice<f32, 256>{}, grid(cdiv(n, 256)), data, n);
}
"""
HEADER = """#pragma once
#include "teeny/teeny.hpp"
void filter(const teeny::Device& device, teeny::Buffer<teeny::f32>& data, int n);
"""
ROBOT = """#include <cstdio>
#include "filter.hpp"
extern "C" int camera_frame(void);
int main(int argc, char** argv) {
  return teeny::run(argc, argv, [](teeny::Program& program) {
    auto data = program.device().buffer<teeny::f32>(1000);
    filter(program.device(), data, 1000);
    std::printf("frame %d\\n", camera_frame());
    return 0;
  });
}
"""


def version(text):
    return tuple(int(part) for part in text.split("."))


def libraries_of_debian_11():
    """A directory with them and their headers."""
    made = subprocess.run([os.path.join(e2e.SOURCE_DIR, "tests", "board", "sysroot"), "bullseye"],
                          stdout=subprocess.PIPE, text=True, check=False)
    if made.returncode == 77:
        raise unittest.SkipTest("no packages of Debian 11 (the reason is above)")
    assert made.returncode == 0
    return made.stdout.strip()


class FromABoard(e2e.BoardTest):
    def test_a_board_is_copied_by_rsync(self):
        # What its compiler would have brought: headers, start-up files, and links to libraries.
        packages = libraries_of_debian_11()
        for part in ("include", "lib/gcc", "lib/aarch64-linux-gnu"):
            there = os.path.join(self.root, "usr", part)
            os.makedirs(there, exist_ok=True)
            e2e.must(["cp", "-an", os.path.join(packages, "usr", part, "."), there])
        library = os.path.join(self.root, "usr/lib/aarch64-linux-gnu/libm.so")
        os.remove(library)
        os.symlink("/lib/aarch64-linux-gnu/libm.so.6", library)
        root = os.path.join(e2e.scratch("board's sysroot é"), "root")
        command = [e2e.program("teeny"), "sysroot", "--host", "aarch64-linux-gnu", "--type",
                   "generic-aarch64@debian-12", "--path", root, "--rsync-from", "board", "--rsync-ssh",
                   f"ssh -F '{self.config}'"]
        told = e2e.must(command)
        self.assertNotIn("tar stream", told.stderr)
        self.assertIn("a C++ program links with it", told.stdout)
        self.assertEqual(os.readlink(os.path.join(root, "lib")), "usr/lib")
        self.assertEqual(os.readlink(os.path.join(root, "usr/lib/aarch64-linux-gnu/libm.so")),
                         "../../../lib/aarch64-linux-gnu/libm.so.6")
        with open(os.path.join(root, ".teeny-sysroot.json"), encoding="utf-8") as file:
            marker = json.load(file)
        self.assertEqual((marker["source"], marker["glibc"], marker["l4t"]), ("board", "2.31", "R36.3.0"))
        # Again: what went away there goes away here.
        os.remove(os.path.join(self.root, "usr/include/aliases.h"))
        e2e.must(command)
        self.assertFalse(os.path.exists(os.path.join(root, "usr/include/aliases.h")))
        with open(os.path.join(root, ".teeny-sysroot.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["folders"], marker["folders"])


class Sysroot(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        packages = libraries_of_debian_11()
        cls.work = e2e.scratch("sysroot é")
        cls.root = os.path.join(cls.work, "the board's root")
        shutil.copytree(packages, cls.root, symlinks=True)
        cls.project = os.path.join(cls.work, "robot")
        os.mkdir(cls.project)
        for name, text in (("CMakeLists.txt", CMAKE), ("filter.cpp", FILTER), ("filter.hpp", HEADER),
                           ("robot.cpp", ROBOT)):
            with open(os.path.join(cls.project, name), "w", encoding="utf-8") as file:
                file.write(text)
        cls.program = os.path.join(e2e.installed_prefix(), "bin", "teeny")

    def teeny(self, *words, **options):
        return e2e.run([self.program, *words], cwd=self.project, **options)

    def make_sysroot(self):
        result = self.teeny("sysroot", "--host", "aarch64-unknown-linux-gnu", "--type", BOARD, "--path",
                            self.root)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_1_without_a_sysroot_nothing_is_built(self):
        result = self.teeny("package", "--target", BOARD, "--bin", "robot", "--device", "cpu")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("jetson-xavier-nx@5.1 has glibc 2.31", result.stderr)
        self.assertIn("teeny sysroot --host aarch64-linux-gnu --type jetson-xavier-nx@5.1", result.stderr)
        self.assertEqual(e2e.run(["find", self.project, "-name", "*.o"]).stdout, "")

    def test_2_what_was_unpacked_becomes_a_sysroot(self):
        # As packages have them: absolute, into the board's own folders.
        library = os.path.join(self.root, "usr/lib/aarch64-linux-gnu")
        for name, target in (("libm.so", "/lib/aarch64-linux-gnu/libm.so.6"),
                             ("libdl.so", "/lib/aarch64-linux-gnu/libdl.so.2")):
            os.remove(os.path.join(library, name))
            os.symlink(target, os.path.join(library, name))
        told = self.make_sysroot()
        self.assertRegex(told, r"glibc\s+2\.31\n")
        self.assertRegex(told, r"libstdc\+\+\s+GLIBCXX_3\.4\.28\n")
        self.assertEqual(os.readlink(os.path.join(library, "libm.so")),
                         "../../../lib/aarch64-linux-gnu/libm.so.6")
        with open(os.path.join(self.root, ".teeny-sysroot.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["glibc"], "2.31")

    def test_3_a_package_of_what_only_the_board_links(self):
        self.make_sysroot()
        source = os.path.join(self.work, "camera.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write("int camera_frame(void) { return 7; }\n")
        e2e.must(["clang-19", "--target=aarch64-linux-gnu", f"--sysroot={self.root}", "-fuse-ld=lld",
                  "-shared", "-fPIC", "-Wl,-soname,libcamera.so.1", source, "-o",
                  os.path.join(self.root, "usr/lib/aarch64-linux-gnu/libcamera.so.1")])
        link = os.path.join(self.root, "usr/lib/aarch64-linux-gnu/libcamera.so")
        if not os.path.lexists(link):
            os.symlink("libcamera.so.1", link)
        package = os.path.join(self.work, "package")
        result = self.teeny("package", "--target", BOARD, "--bin", "robot", "--device", "cuda", "--device",
                            "cpu", "--sysroot", self.root, "--dest", package, timeout=1500)
        self.assertEqual(result.returncode, 0, result.stdout[-2000:] + result.stderr[-4000:])
        self.assertIn("glibc 2.31, GLIBCXX 3.4.28 (clang and lld)", result.stderr)
        with open(os.path.join(package, "conf/manifest.json"), encoding="utf-8") as file:
            manifest = json.load(file)
        self.assertIn("libcamera.so.1", manifest["elf_needs"][0]["libraries"])
        wants = manifest["elf_needs"][0]["versions"]
        self.assertLessEqual(version(wants["GLIBC"]), (2, 31))
        self.assertLessEqual(version(wants["GLIBCXX"]), (3, 4, 28))
        self.assertEqual({kernel["type"] for kernel in manifest["kernels"]}, {"Twice<float, 256>"})
        self.assertEqual({kernel["kind"] for kernel in manifest["kernels"]}, {"ptx", "cubin", "so"})
        if shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static"):
            self.assertRegex(result.stderr, r"robot's own check, under .*: 1 kernel")
            qemu = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
            ran = e2e.run([qemu, "-L", self.root, os.path.join(package, "bin/robot"), "--on", "cpu"], env={})
            self.assertEqual((ran.returncode, ran.stdout), (0, "frame 7\n"), ran.stderr)
        # The same program without its library's copy is an error, not a guess.
        os.remove(link)
        again = self.teeny("build", "--target", BOARD, "--bin", "robot", "--sysroot", self.root, "--",
                           "-UCAMERA")
        self.assertNotEqual(again.returncode, 0)
        self.assertIn("CAMERA", again.stderr)
        os.symlink("libcamera.so.1", link)

    def test_4_its_kernels_alone_are_compiled_and_checked_here(self):
        cache = os.path.join(self.work, "cache")
        result = self.teeny("aot", "--bin", "robot", "--device", "cpu", "--cache-dir", cache, timeout=1500)
        self.assertEqual(result.returncode, 0, result.stderr[-3000:])
        self.assertTrue(os.path.exists(os.path.join(cache, "programs/robot.json")))
        checked = self.teeny("check", "--target", BOARD, "--bin", "robot", "--sysroot", self.root,
                             timeout=1500)
        self.assertEqual(checked.returncode, 0, checked.stderr[-3000:])
        self.assertTrue(re.search(r"\b1 kernels? trace", checked.stderr), checked.stderr)
        alone = e2e.must(["find", self.project, "-path", "*/robot.kernels/robot"]).stdout.strip()
        ran = e2e.run([alone, "--on", "cpu"])
        self.assertEqual(ran.returncode, 1)
        self.assertIn("run robot itself, on its board", ran.stderr)


if __name__ == "__main__":
    e2e.main()

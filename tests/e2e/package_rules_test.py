"""What a package promises, checked on this machine with a package made for it.

P11: compiling for a GPU opens no driver. P23: the runtime writes nothing and needs no user, no home,
no environment. P37: no compiler, no Python, no CUDA toolkit, no shell beside the package. And a
kernel file that is gone, cut or altered ends the run with a message that names it.

Budget: 60 s on two quiet cores, of which 40 are the board wing's build for the named board; some
seconds where the compiler cache has it.
"""

import json
import os
import platform
import re
import shutil
import sys
import tempfile
import unittest

import e2e_support as e2e

BOARD = "h200-server"  # x86-64: what is packaged for it runs here
DEVICES = ["--device", "cuda", "--options", "capability=sm_75", "--device", "cpu"]
LIBRARIES = {"libc.so.6", "libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}
NOBODY = 65534
WRITES = re.compile(r"open(at)?2?\(.*\b(O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_TMPFILE)\b|"
                    r"\b(creat|mkdir(at)?|rename(at2?)?|unlink(at)?|rmdir|(sym)?link(at)?|truncate|"
                    r"mknod(at)?|f?chmod(at)?|l?chown|fchownat|utime\w*)\(")


def needed(path):
    """What an ELF file needs, by readelf."""
    text = e2e.must(["readelf", "-dW", path], env=e2e.environment(LC_ALL="C")).stdout
    return set(re.findall(r"\(NEEDED\)\s+Shared library: \[([^\]]+)\]", text))


class PackageRules(unittest.TestCase):
    package = None  # made in setUpClass
    work = None

    @classmethod
    def setUpClass(cls):
        cls.work = e2e.scratch("package_rules")
        if cls.package is None:
            cls.package = os.path.join(cls.work, "package")
            made = e2e.run([e2e.program("teeny"), "package", "--target", BOARD, "--example",
                            "vector_add", *DEVICES, "--dest", cls.package], cwd=e2e.SOURCE_DIR,
                           timeout=1500)
            assert made.returncode == 0, made.stdout[-2000:] + made.stderr[-4000:]

    def program(self, package=None):
        return os.path.join(package or self.package, "bin", "vector_add")

    def good(self, command, env=None, **options):
        result = e2e.run(command, env=env or {}, **options)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(result.stdout.count(" ok\n"), 2, result.stdout)
        self.assertNotIn("compil", result.stderr)
        return result

    def traced(self, command, env):
        """The finished command and the lines of its system calls, those of its children included."""
        trace = os.path.join(self.work, "trace")
        result = e2e.run(["strace", "-f", "-qq", "-s", "4096", "-e", "trace=file,process", "-o", trace,
                          "env", "-i", *(f"{name}={value}" for name, value in env.items()), *command])
        with open(trace, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
        # The first program is env, which becomes the command.
        starts = [i for i, line in enumerate(lines) if "execve(" in line and " = 0" in line]
        self.assertGreaterEqual(len(starts), 2, result.stderr)
        return result, lines[starts[1]:]

    # ---- what runs needs nothing and writes nothing

    def test_P23_no_environment_and_no_trace_of_a_write(self):
        before = e2e.tree(self.package)
        result, calls = self.traced([self.program(), "--on", "cpu"], {})
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        text = "\n".join(calls)
        self.assertIn("vector_add.json", text)  # the trace does show what is opened
        self.assertEqual([line for line in calls if WRITES.search(line)], [])
        self.assertEqual(sum("execve(" in line for line in calls), 1)
        children = [line for line in calls if re.search(r"\bv?fork\(", line) or
                    (re.search(r"\bclone3?\(", line) and "CLONE_THREAD" not in line)]
        self.assertEqual(children, [])
        for name in ("libLLVM", "liblld", "teenyc-", "bin/teenyc", "libcuda", "libnvidia", "/dev/nvidia"):
            self.assertNotIn(name, text)
        self.assertEqual(e2e.tree(self.package), before)

    def test_P23_any_home_and_any_directory(self):
        for env in ({"HOME": "/nonexistent"}, {"HOME": ""}, {"TMPDIR": "/nonexistent", "LC_ALL": "xx_XX"}):
            self.good([self.program(), "--on", "cpu"], env=env, cwd="/")
        # Found from where the program is, by whatever way it is called.
        self.good(["./vector_add", "--on", "cpu"], cwd=os.path.join(self.package, "bin"))
        link = os.path.join(self.work, "link")
        os.symlink(self.program(), link)
        self.good([link, "--on", "cpu"])

    def test_P23_as_nobody(self):
        if os.geteuid() != 0:
            self.skipTest("only root can become nobody")
        with tempfile.TemporaryDirectory(prefix="teeny-nobody-") as directory:
            # The build may lie in a home that is closed to others.
            os.chmod(directory, 0o755)
            package = os.path.join(directory, "package")
            shutil.copytree(self.package, package)
            self.good([self.program(package), "--on", "cpu"], user=NOBODY, group=NOBODY,
                      extra_groups=[], cwd="/")

    def test_P23_read_only(self):
        if os.geteuid() == 0 and self.can_mount():
            script = ('mount --bind "$1" /mnt && mount -o remount,bind,ro /mnt && '
                      '! touch /mnt/bin/x 2>/dev/null && '
                      'exec setpriv --reuid 65534 --regid 65534 --clear-groups env -i /mnt/bin/vector_add --on cpu')
            self.good(["unshare", "-m", "sh", "-c", script, "sh", self.package], env=e2e.environment())
            return
        print("no mounts may be made here: the package is made read-only by its modes instead")
        package = os.path.join(self.work, "read only")
        shutil.copytree(self.package, package)
        for top, _, names in os.walk(package):
            for name in names:
                path = os.path.join(top, name)
                os.chmod(path, os.stat(path).st_mode & 0o555)
            os.chmod(top, 0o555)
        try:
            self.good([self.program(package), "--on", "cpu"])
        finally:
            for top, _, _ in os.walk(package):
                os.chmod(top, 0o755)

    def can_mount(self):
        return all(shutil.which(name) for name in ("unshare", "setpriv", "mount")) and e2e.run(
            ["unshare", "-m", "sh", "-c", "mount --bind /tmp /mnt"]).returncode == 0

    def test_P37_holds_no_compiler_and_needs_none(self):
        found = e2e.tree(self.package)
        files = {path for path, (_, data, _) in found.items() if data is not None}
        self.assertEqual({path for path in files if not path.startswith("cache/")},
                         {"bin/vector_add", "conf/board.json", "conf/manifest.json"})
        for path in files:
            if path.startswith("cache/"):
                self.assertRegex(path, r"\.(so|ptx|cubin|tir|json)$")
        self.assertLess(sum(len(found[path][1]) for path in files), 8 << 20)
        for path in files:
            if found[path][1].startswith(b"\x7fELF"):
                self.assertLessEqual(needed(os.path.join(self.package, path)), LIBRARIES, path)
        self.assertTrue(needed(self.program()))
        self.good([self.program(), "--on", "cpu"], env={"PATH": ""})
        self.good([self.program(), "--on", "cpu"], env={"PATH": "/nonexistent"})

    def test_P37_runs_on_a_minimal_image(self):
        """A root of its own that holds the C++ libraries, the package and /proc: no shell, no tools."""
        if os.geteuid() != 0 or not self.can_mount():
            self.skipTest("only root can change the root directory, and where mounts may be made")
        root = os.path.join(self.work, "image")
        os.makedirs(os.path.join(root, "proc"))
        listed = e2e.must(["ldd", self.program()]).stdout
        for path in re.findall(r"(/\S+) \(0x", listed):
            target = root + path
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(os.path.realpath(path), target)
        shutil.copytree(self.package, os.path.join(root, "app"))
        script = ('mount --bind /proc "$1/proc" && '
                  'exec chroot --userspec=65534:65534 "$1" /app/bin/vector_add --on cpu')
        env = e2e.environment(HOME="/nonexistent")
        self.good(["unshare", "-m", "sh", "-c", script, "sh", root], env=env)

    # ---- compiling asks no driver

    def test_P11_compiling_for_a_gpu_opens_no_driver(self):
        cache = os.path.join(self.work, "ahead")
        teenyc = e2e.program("teenyc")
        result, calls = self.traced(
            [e2e.program("vector_add"), "--device", "cuda", "--options", "capability=sm_87,driver=13.0",
             "--cache-dir", cache], {"TEENYC_PATH": teenyc})
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(result.stdout.count("sm_87 and later"), 2, result.stdout)
        text = "\n".join(calls)
        # The trace follows compiler and assembler, too.
        self.assertIn(f'"{teenyc}", "--serve"', text)
        self.assertIn('"-arch=sm_87"', text)
        for name in ("libcuda", "libnvidia", "libnvrtc", "libnvptxcompiler", "/dev/nvidia"):
            self.assertNotIn(name, text)

    # ---- a kernel's file that is not as it was packaged

    def harmed(self, harm):
        """A copy of the package whose first CPU kernel came to harm, and that kernel's path in it."""
        package = os.path.join(self.work, "harmed")
        shutil.rmtree(package, ignore_errors=True)
        shutil.copytree(self.package, package)
        with open(os.path.join(package, "conf", "manifest.json"), encoding="utf-8") as file:
            kernels = json.load(file)["kernels"]
        # The kernel that the program launches first.
        artifact = next(kernel["artifact"] for kernel in kernels
                        if kernel["kind"] == "so" and "float" in kernel["type"])
        path = os.path.join(package, artifact)
        with open(path, "rb") as file:
            data = bytearray(file.read())
        os.remove(path)
        harm(data)
        if data:
            with open(path, "wb") as file:
                file.write(data)
        return package, artifact

    def refused(self, harm, *says):
        package, artifact = self.harmed(harm)
        result = e2e.run([self.program(package), "--on", "cpu"], env={})
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertNotIn(" ok\n", result.stdout)
        for part in (os.path.relpath(artifact, "cache"), *says):
            self.assertIn(part, result.stderr)

    def test_a_kernel_that_is_gone(self):
        # The kernel's name; what was wanted; what is there, and why that does not do.
        self.refused(lambda data: data.clear(), "no code for kernel VectorAdd",
                     "wanted code for a CPU x86_64-linux-gnu", "is gone", "sm_75",
                     "is code for a CUDA device", "compile it ahead of time")

    def test_a_kernel_that_is_cut(self):
        def cut_to(size):
            def harm(data):
                del data[size(len(data)):]
            return harm
        for size in (lambda all_: all_ - 1, lambda all_: all_ // 2, lambda _: 1):
            self.refused(cut_to(size), "truncated")

    def test_a_kernel_that_is_altered(self):
        def flip(where):
            def harm(data):
                data[int(where * (len(data) - 1))] ^= 1
            return harm
        # In the ELF header, the code, the description after it.
        for where in (0.02, 0.1, 0.3, 0.5, 0.7, 0.9):
            self.refused(flip(where), "altered", "its digest says")
        # What is no ELF file any more is looked at as text, which ends in another way.
        self.refused(flip(0), "ends in its digest")


if __name__ == "__main__":
    if platform.machine() != "x86_64" or sys.platform != "linux":
        print("the package of this test runs on x86-64 only")
        sys.exit(77)
    e2e.main()

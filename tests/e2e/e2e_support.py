"""What the end-to-end tests share: where things are, how commands are run, how trees are compared."""

import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import unittest

SOURCE_DIR = os.environ.get(
    "TEENY_SOURCE_DIR", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD_DIR = os.environ.get("TEENY_BUILD_DIR", os.path.join(SOURCE_DIR, "build"))
TEENY = os.path.join(BUILD_DIR, "bin", "teeny")
TEENYC = os.path.join(BUILD_DIR, "bin", "teenyc")


def program(name):
    """An example, a tool or the compiler of this build; a test without it fails."""
    path = os.path.join(BUILD_DIR, "bin", name)
    if not os.access(path, os.X_OK):
        raise FileNotFoundError(f"{path} is not built: cmake --build {BUILD_DIR} --target {name}")
    return path


def examples():
    """The names of all example programs."""
    top = os.path.join(SOURCE_DIR, "examples")
    return sorted(name for name in os.listdir(top) if os.path.isdir(os.path.join(top, name)) and
                  any(file.endswith(".cpp") for file in os.listdir(os.path.join(top, name))))


def scratch(name):
    """An empty directory for one test, below the build."""
    path = os.path.join(BUILD_DIR, "e2e", name)
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    return path


class BoardTest(unittest.TestCase):
    """Tests against the emulated board, started once for all of them: `config` is ssh's configuration
    for the host `board`, `root` its file system. Skipped where there can be no such board."""

    @classmethod
    def setUpClass(cls):
        command = os.path.join(SOURCE_DIR, "tests", "board", "board")
        cls.board = tempfile.mkdtemp(prefix="teeny-board-")
        cls.addClassCleanup(shutil.rmtree, cls.board, ignore_errors=True)
        started = subprocess.run([command, "start", cls.board], stdout=subprocess.PIPE, text=True, check=False)
        if started.returncode == 77:
            raise unittest.SkipTest("no emulated board on this machine")
        assert started.returncode == 0
        cls.addClassCleanup(subprocess.run, [command, "stop", cls.board], check=True)
        cls.config = started.stdout.strip()
        cls.root = os.path.join(cls.board, "root")


def environment(**more):
    """This process's environment without what would steer teeny. Projects of a user's own that are
    built in it, all in scratch directories, share a compiler cache: those that find the prefix below
    compile the same board wing."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TEENY")}
    if shutil.which("ccache"):
        clean.update(CMAKE_CXX_COMPILER_LAUNCHER="ccache", CCACHE_NOHASHDIR="1",
                     CCACHE_IGNOREOPTIONS="-ffile-prefix-map=*",
                     CCACHE_BASEDIR=os.path.join(BUILD_DIR, "e2e"))
        clean.setdefault("CCACHE_DIR", os.path.join(SOURCE_DIR, "build", "ccache"))
    clean.update(more)
    return clean


def installed_prefix():
    """Where this build is installed for the tests, a path with a space and an accent; made once for
    all of them, and again when what it is made from changed. It was moved after it was installed."""
    prefix = os.path.join(BUILD_DIR, "pré fix")
    with open(prefix + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        state = hashlib.sha256()
        for part in ("include", "src", "cmake", "boards", "share", "assemblers", "build/third_party"):
            for path, (mode, data, link) in sorted(tree(os.path.join(SOURCE_DIR, part)).items()):
                state.update(repr((path, mode, link)).encode() + (data or b""))
        for name in ("teeny", "teenyc"):
            status = os.stat(program(name))
            state.update(repr((status.st_mtime_ns, status.st_size)).encode())
        made = pathlib.Path(prefix, ".made-from")
        if not made.exists() or made.read_text("ascii") != state.hexdigest():
            shutil.rmtree(prefix, ignore_errors=True)
            shutil.rmtree(prefix + ".staging", ignore_errors=True)
            must(["cmake", "--install", BUILD_DIR, "--prefix", prefix + ".staging"])
            os.rename(prefix + ".staging", prefix)
            # What `teeny install-toolchain` would fetch.
            os.symlink(os.path.join(SOURCE_DIR, "build", "toolchain"),
                       os.path.join(prefix, "share", "teeny", "toolchain"))
            made.write_text(state.hexdigest(), "ascii")
    return prefix


def run(command, timeout=600, env=None, **options):
    """The finished command, its output as text; never through a shell. At its time limit all that it
    started goes, too: a build goes on without the one who asked for it."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", stdin=subprocess.DEVNULL, start_new_session=True,
                          env=environment() if env is None else env, **options) as process:
        try:
            output, error = process.communicate(timeout=timeout)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, process.returncode, output, error)


def must(command, **options):
    """The finished command, which has to succeed."""
    result = run(command, **options)
    if result.returncode != 0:
        raise AssertionError(f"{command}\nended with {result.returncode}\n{result.stdout[-3000:]}"
                             f"{result.stderr[-3000:]}")
    return result


def ptxas_by_chip():
    """Capability -> the newest ptxas for it of those that `teeny doctor` finds."""
    rows = json.loads(run([TEENY, "doctor", "--json"]).stdout)["assemblers"]
    found = {}
    for row in sorted(rows, key=lambda row: [int(part) for part in row["version"].split(".")]):
        found.update(dict.fromkeys(row["capabilities"], row["path"]))
    return found


def holds_path(data, directory):
    """Whether the bytes name a directory; not where another path ends like it: it may be called /src."""
    return re.search(rb"(?<![\w.})>-])" + re.escape(os.fsencode(directory)) + rb"(?![\w.-])", data) is not None


def tree(directory):
    """Path -> (mode, bytes or None for a directory, target of a link) of all below a directory."""
    found = {}
    for top, directories, names in os.walk(directory):
        for name in directories + names:
            path = os.path.join(top, name)
            mode = os.lstat(path).st_mode
            data = link = None
            if stat.S_ISLNK(mode):
                link = os.readlink(path)
            elif stat.S_ISREG(mode):
                with open(path, "rb") as file:
                    data = file.read()
            found[os.path.relpath(path, directory)] = (mode, data, link)
    return found


def main():
    """Runs the tests of the calling script; exits 77 where each of them was skipped."""
    result = unittest.main(module="__main__", exit=False, verbosity=2).result
    if not result.wasSuccessful():
        raise SystemExit(1)
    raise SystemExit(77 if result.testsRun <= len(result.skipped) else 0)

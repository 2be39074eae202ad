"""Deploying and running where something goes wrong: a real ssh server of this machine on a port of its
own, behind an ssh that fails on demand. The emulated board is in deploy_test.py.

TEENY_KILL_POINTS: at how many points of a deploy it is killed (3; fifty take some minutes).
"""

import getpass
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from e2e_support import TEENY, environment, main, run
from ssh_support import LocalBoard, busybox_tools, contents, make_package, noise, program

KILL_POINTS = int(os.environ.get("TEENY_KILL_POINTS", "3"))
BIG = 2 << 20


def command_of(process):
    """What a process was started as; nothing for one that has ended."""
    try:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = os.path.realpath(tempfile.mkdtemp(prefix="teeny faults é"))
        cls.board = LocalBoard(os.path.join(cls.base, "board"))

    @classmethod
    def tearDownClass(cls):
        cls.board.stop()
        shutil.rmtree(cls.base)

    def setUp(self):
        self.dest = os.path.join(self.base, self.id().rsplit(".", 1)[-1], "it's $x", "demo")
        self.package = os.path.join(self.base, "package")

    def files(self, text="hello", **more):
        files = {"bin/hello": program(f"echo {text}"), "data/kernels": b"x" * 100000,
                 "data/a b \\ 'é $.txt": b"data", "data/empty": b""}
        files.update(more)
        return files

    def words(self, command="deploy", ssh=None, host="board"):
        return [TEENY, command, "--package", self.package, "--host", host, "--ssh", ssh or self.board.ssh(),
                "--dest", self.dest]

    def deploy(self, *more, **how):
        return run(self.words(**how) + list(more))

    def good(self, *more, **how):
        result = self.deploy(*more, **how)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def failed(self, code, *more, says=(), **how):
        result = self.deploy(*more, **how)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertNotIn("is live", result.stdout)
        for text in says:
            self.assertIn(text, result.stderr)
        return result

    def at(self, *parts):
        return os.path.join(self.dest, *parts)

    def expect_live(self, release):
        self.assertEqual(os.readlink(self.at("current")), f"releases/{release}")
        self.assertEqual(contents(self.at("releases", release)), contents(self.package))

    def expect_untouched(self, release, files):
        self.assertEqual(os.readlink(self.at("current")), f"releases/{release}")
        found = contents(self.at("current", ""))
        del found["conf/manifest.json"]
        self.assertEqual({path: data for path, (_, data) in found.items()}, files)

    def counted(self, name="count"):
        with open(os.path.join(self.base, name), encoding="utf-8") as file:
            counts = [int(line) for line in file]
        os.remove(os.path.join(self.base, name))
        return counts

    def count_to(self, *faults):
        return self.board.ssh(*faults, "--count", os.path.join(self.base, "count"))

    # --- several boards ---------------------------------------------------------------------------
    def test_several_boards_go_on_when_one_fails(self):
        release = make_package(self.package, self.files())
        result = self.deploy("--host", "away", "--host", "second")
        self.assertEqual(result.returncode, 16, result.stderr)
        lines = [re.split("  +", line) for line in result.stdout.splitlines()]
        table = lines[[line[0] for line in lines].index("HOST") + 1:]
        self.assertEqual([row[0] for row in table], ["board", "away", "second"])
        self.assertEqual([row[4].split(" (16)")[0] for row in table], ["live", "failed", "live"])
        self.assertIn("no ssh server listens", result.stderr)
        self.expect_live(release)

    # --- a copy that is cut off -------------------------------------------------------------------
    def cut_and_go_on(self, *tools):
        old = self.files("old")
        old_release = make_package(self.package, old)
        self.good()
        new = make_package(self.package, self.files("new", **{
            "data/big": noise(BIG, 1), "data/second": noise(BIG, 2)}))
        cut = BIG + BIG // 2
        result = self.failed(16, ssh=self.board.ssh(*tools, "--cut", str(cut)),
                             says=["is untouched", "goes on from it"])
        self.assertIn(new + ".partial-", result.stderr)
        self.expect_untouched(old_release, old)
        # How much of what was sent had arrived is the link's affair; what did is not sent again.
        partial, = [name for name in os.listdir(self.at("releases")) if name.startswith(new + ".partial-")]
        there = [size for size in (os.path.getsize(self.at("releases", partial, "data", name))
                                   for name in os.listdir(self.at("releases", partial, "data"))) if size == BIG]
        self.assertTrue(there, "no file had arrived")
        self.good(ssh=self.count_to(*tools))
        self.expect_live(new)
        self.assertLess(sum(self.counted()), 2 * BIG - sum(there) + BIG // 4)
        self.assertEqual(sorted(os.listdir(self.at("releases"))), sorted([old_release, new]))

    def test_a_cut_copy_by_rsync_is_gone_on_with(self):
        self.cut_and_go_on()

    def test_a_cut_copy_by_tar_is_gone_on_with(self):
        tools = busybox_tools(os.path.join(self.base, "cut tools"))
        if tools is None:
            self.skipTest("no busybox on this machine")
        self.cut_and_go_on("--path", tools)

    def test_P44_a_cut_that_nobody_tells_of(self):
        tools = busybox_tools(os.path.join(self.base, "silent tools"))
        old = self.files("old")
        release = make_package(self.package, old)
        self.good()
        new = make_package(self.package, self.files("new", **{"data/big": noise(BIG, 3)}))
        for faults in ((), ("--path", tools)) if tools else ((),):
            result = self.deploy(ssh=self.board.ssh(*faults, "--cut", str(BIG // 2), "--silent"))
            self.assertNotEqual(result.returncode, 0)
            self.assertNotIn("is live", result.stdout)
            self.assertIn("is untouched", result.stderr)
            self.expect_untouched(release, old)
        self.good()
        self.expect_live(new)

    # --- disks ------------------------------------------------------------------------------------
    def mounted(self, *options):
        if os.geteuid() != 0:
            self.skipTest("mounting a small disk needs root")
        disk = os.path.join(self.base, self.id().rsplit(".", 1)[-1])
        os.makedirs(disk)
        done = subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", disk], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            self.skipTest("no small disk can be mounted here: " + done.stderr)
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        return disk

    def test_a_full_disk(self):
        disk = self.mounted("-o", "size=12m")
        old = self.files("old")
        release = make_package(self.package, old)
        self.good()
        make_package(self.package, self.files("new", **{"data/big": noise(20 << 20, 4)}))
        self.failed(14, says=["free at", "nothing was changed"])
        # What fits when it is looked at and fills up while it is copied.
        make_package(self.package, self.files("new", **{"data/big": noise(8 << 20, 5)}))
        filler = os.path.join(disk, "filler")
        free = os.statvfs(disk).f_bavail * 4096
        # A board without df cannot say, one without rsync is sent a tar stream.
        without = {"rsync": os.path.join(self.base, "no df"), "tar": os.path.join(self.base, "no df, no rsync")}
        for path, missing in (without["rsync"], {"df"}), (without["tar"], {"df", "rsync"}):
            os.makedirs(path)
            for name in set(os.listdir("/usr/bin")) - missing:
                os.symlink(os.path.join("/usr/bin", name), os.path.join(path, name))
        with open(filler, "wb") as file:
            file.write(b"f" * (free - (5 << 20)))
        for carrier, path in without.items():
            self.failed(14, ssh=self.board.ssh("--path", path),
                        says=["copying by " + carrier, "disk is full", "is removed again"])
            self.expect_untouched(release, old)
            self.assertEqual(os.listdir(self.at("releases")), [release])
        os.remove(filler)
        self.good("--keep", "2")

    def test_a_read_only_disk(self):
        disk = self.mounted()
        make_package(self.package, self.files())
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        self.failed(1, says=["wanted to write into", "read-only", "--dest", "nothing was changed"])

    # --- boards without much ----------------------------------------------------------------------
    def test_busybox_and_no_rsync(self):
        tools = busybox_tools(os.path.join(self.base, "tools"))
        if tools is None:
            self.skipTest("no busybox on this machine")
        how = {"ssh": self.count_to("--path", tools)}
        first = make_package(self.package, self.files("first", **{"data/big": noise(BIG, 6)}))
        self.assertIn("tar", self.good(**how).stderr)
        self.expect_live(first)
        self.counted()
        files = self.files("second", **{"data/moved": noise(BIG, 6), "data/kernels": b"y" * 100000})
        del files["data/empty"]
        second = make_package(self.package, files)
        self.good(**how)
        self.expect_live(second)
        self.assertLess(sum(self.counted()), 200000)
        self.assertIn(f"is live at board:{self.dest}", self.good("--rollback", **how).stdout)
        self.assertEqual(os.readlink(self.at("current")), f"releases/{first}")
        result = run(self.words("run", ssh=how["ssh"]))
        self.assertEqual((result.returncode, result.stdout), (0, "second\n"), result.stderr)

    # --- P43 --------------------------------------------------------------------------------------
    def test_P43_of_a_big_package_little_is_sent_twice(self):
        files = self.files("one", **{f"data/k{i}": noise(1 << 20, i) for i in range(10, 60)})
        make_package(self.package, files)
        self.good(ssh=self.count_to())
        first, = self.counted()
        self.assertGreater(first, 50 << 20)
        files["data/k11"] = noise(1 << 20, 11)[:-1] + b"!"
        files["data/k12"] = noise(1 << 20, 99)
        release = make_package(self.package, files)
        # The same size and, to a board, the same time.
        for name in ("data/k11", "data/k12"):
            stat = os.stat(self.at("current", name))
            os.utime(os.path.join(self.package, name), ns=(stat.st_atime_ns, stat.st_mtime_ns))
        result = self.good(ssh=self.count_to())
        second, = self.counted()
        self.assertLess(second, first // 20)
        self.assertRegex(result.stderr, r"1\.\d MiB sent")
        self.expect_live(release)
        # Two releases share no file: what writes to one changes no other.
        first_release, = set(os.listdir(self.at("releases"))) - {release}
        for name in ("data/k20", "bin/hello"):
            with open(self.at("releases", release, name), "r+b") as file:
                file.write(b"another")
            with open(self.at("releases", first_release, name), "rb") as file:
                self.assertEqual(file.read(), files[name] if name != "bin/hello" else program("echo one"))
        self.failed(15, says=["altered: data/k20", "--overwrite"])
        self.good("--overwrite")
        self.expect_live(release)

    # --- P41, P42 ---------------------------------------------------------------------------------
    def test_P41_one_port_for_every_command(self):
        log = os.path.join(self.base, "calls")
        ssh = (f"ssh -F none -p {self.board.port} -o 'UserKnownHostsFile=\"{self.board.path('known_hosts')}\"' "
               f"-i '{self.board.path('user_key')}' -o IdentitiesOnly=yes -o IdentityAgent=none")
        faulty = self.board.ssh("--log", log, "--host", f"{getpass.getuser()}@127.0.0.1").split(" -- ")[0]
        release = make_package(self.package, self.files())
        how = {"ssh": f"{faulty} -- {ssh}", "host": f"{getpass.getuser()}@127.0.0.1"}
        self.good(**how)
        self.expect_live(release)
        result = run(self.words("run", **how))
        self.assertEqual(result.stdout, "hello\n", result.stderr)
        with open(log, encoding="utf-8") as file:
            calls = [json.loads(line) for line in file]
        self.assertGreater(len(calls), 6)
        self.assertTrue(any("--server" in call for call in calls))
        for call in calls:
            self.assertEqual(call[:5], ["ssh", "-F", "none", "-p", str(self.board.port)])
            self.assertNotIn("StrictHostKeyChecking=no", " ".join(call))

    def test_P42_no_terminal_and_a_host_key_that_is_not_known(self):
        make_package(self.package, self.files())
        for hosts, says in (("no_hosts", "accept it once by hand"), ("wrong_hosts", "ssh-keygen -R")):
            start = time.monotonic()
            ssh = f"ssh -F '{self.board.config}' -o 'UserKnownHostsFile=\"{self.board.path(hosts)}\"'"
            before = contents(self.board.directory)[hosts]
            self.failed(16, ssh=ssh, says=["SHA256:", says])
            self.assertLess(time.monotonic() - start, 10)
            self.assertEqual(contents(self.board.directory)[hosts], before)
        self.assertFalse(os.path.exists(self.dest))

    # --- killed -----------------------------------------------------------------------------------
    def test_killed_at_many_points_the_old_release_runs_on(self):
        old = self.files("old")
        make_package(self.package, old)
        self.good()
        rate = str(16 << 20)
        start = time.monotonic()
        make_package(self.package, self.files("measure", **{"data/big": noise(BIG, 7)}))
        self.good(ssh=self.board.ssh("--slow", rate))
        whole = time.monotonic() - start
        old_package = os.path.join(self.base, "old package")
        for point in range(KILL_POINTS):
            with self.subTest(point=point):
                old = self.files(f"old{point}", **{"data/old": noise(1000, point)})
                old_release = make_package(self.package, old)
                self.good("--keep", "2")
                shutil.rmtree(old_package, ignore_errors=True)
                shutil.copytree(self.package, old_package)
                running = subprocess.Popen([self.at("current", "bin", "hello")], stdout=subprocess.PIPE)
                new = make_package(self.package, self.files(f"new{point}", **{"data/big": noise(BIG, 100 + point)}))
                with subprocess.Popen(self.words(ssh=self.board.ssh("--slow", rate)), env=environment(),
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL, start_new_session=True) as deploying:
                    time.sleep(whole * (point + 1) / (KILL_POINTS + 1))
                    # Half of the time all that it started goes, too; else that goes on by itself.
                    if point % 2:
                        os.killpg(deploying.pid, signal.SIGKILL)
                    deploying.kill()
                live = os.path.basename(os.readlink(self.at("current")))
                self.assertIn(live, (old_release, new))
                package = old_package if live == old_release else self.package
                self.assertEqual(contents(self.at("releases", live)), contents(package))
                self.assertEqual(subprocess.run([self.at("current", "bin", "hello")], capture_output=True,
                                                text=True, check=True).stdout,
                                 f"{'old' if live == old_release else 'new'}{point}\n")
                self.assertEqual((running.communicate()[0], running.wait()), (f"old{point}\n".encode(), 0))
                self.good()
                self.expect_live(new)

    # --- run --------------------------------------------------------------------------------------
    def test_run_deploys_once_and_gives_back_what_the_program_does(self):
        text = "printf '[%s]' \"$@\"; cat; echo oops >&2; exit 7"
        release = make_package(self.package, self.files(**{"bin/hello": program(text)}))
        words = self.words("run") + ["--", "--on", "it's $x", "", "é"]
        for first in (True, False):
            with open(os.path.join(self.base, "input"), "wb") as file:
                file.write(b"bytes \xff\0 in")
            with open(os.path.join(self.base, "input"), "rb") as file:
                result = subprocess.run(words, stdin=file, capture_output=True, env=environment(), check=False)
            self.assertEqual(result.returncode, 7, result.stderr)
            self.assertEqual(result.stdout, "[--on][it's $x][][é]".encode() + b"bytes \xff\0 in")
            self.assertTrue(result.stderr.endswith(b"oops\n"), result.stderr)
            self.assertEqual(b"copying" in result.stderr, first)
        self.expect_live(release)

    def test_run_names_the_program_where_there_are_two(self):
        make_package(self.package, self.files(**{"bin/other": program("exit 255").replace(b"hello", b"other")}))
        result = run(self.words("run"))
        self.assertEqual(result.returncode, 2)
        self.assertIn("hello, other", result.stderr)
        self.assertEqual(run(self.words("run") + ["--bin", "other"]).returncode, 255)

    def test_a_signal_ends_the_program(self):
        started = os.path.join(self.base, "started")
        make_package(self.package, self.files(**{"bin/hello": program(
            f"sleep 300 & echo $! > '{started}.part'; mv '{started}.part' '{started}'; wait")}))
        with subprocess.Popen(self.words("run"), env=environment(), stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as running:
            while not os.path.exists(started):
                self.assertIsNone(running.poll())
                time.sleep(0.02)
            running.terminate()
            running.communicate(timeout=20)
        self.assertEqual(running.returncode, 128 + signal.SIGTERM)
        with open(started, encoding="utf-8") as file:
            self.assertEqual(command_of(file.read().strip()), b"")


if __name__ == "__main__":
    main()

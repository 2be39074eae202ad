"""`teeny deploy` and `run` against the emulated board: a real ssh server, a real rsync, a file system to
break.

P40: awkward remote paths. P41: one transport carries port and configuration everywhere. P42: no
terminal, no waiting. P43: the board's tree equals the manifest. P44: success only after the board
verified.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time

from e2e_support import TEENY, BoardTest, main
from ssh_support import make_package, program, write

DEST = "apps/it's a \"demo\" $HOME é"


class Deploy(BoardTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.base = tempfile.mkdtemp(prefix="teeny deploy 'é $")
        cls.addClassCleanup(shutil.rmtree, cls.base)
        cls.package = os.path.join(cls.base, "package")

    def files(self, text="hello"):
        return {"bin/hello": program(f"echo {text}"), "data/kernels": b"x" * 100000,
                "data/a b \\ 'é $.txt": b"data", "data/empty": b""}

    def make(self, files, triple="aarch64-linux-gnu"):
        return make_package(self.package, files, triple)

    def deploy(self, *words, ssh=None, **run):
        ssh = ssh or f"ssh -F '{self.config}'"
        return subprocess.run([TEENY, "deploy", "--package", self.package, "--host", "board", "--ssh", ssh,
                               "--dest", DEST, *words], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, check=False, **run)

    def good(self, *words, **run):
        result = self.deploy(*words, **run)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def on_board(self, command):
        return subprocess.run(["ssh", "-F", self.config, "board", command], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, check=False)

    def dest(self, *parts):
        return os.path.join(self.root, "home", "nvidia", DEST, *parts)

    def tree(self, directory):
        found = {}
        for top, _, names in os.walk(directory):
            for name in names:
                path = os.path.join(top, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, directory)] = file.read()
        return found

    def expect_live(self, release, files=None):
        self.assertEqual(os.readlink(self.dest("current")), f"releases/{release}")
        found = self.tree(self.dest("releases", release))
        if files is None:
            self.assertEqual(found, self.tree(self.package))
        else:
            del found["conf/manifest.json"]
            self.assertEqual(found, files)

    def test_P40_P43_deploy_again_and_run(self):
        first = self.make(self.files())
        result = self.good()
        self.expect_live(first)
        # The command that is printed runs the program.
        command = next(line for line in result.stdout.splitlines() if line.startswith("run it: "))
        ran = subprocess.run(["sh", "-c", command[len("run it: "):]], capture_output=True, text=True, check=False)
        self.assertEqual(ran.stdout, "hello\n", ran.stderr)
        # A changed file of the same size and time, one gone, one new.
        files = self.files("hallo")
        del files["data/empty"]
        files["data/new"] = b"new"
        second = self.make(files)
        for name in ("bin/hello",):
            stat = os.stat(self.dest("releases", first, name))
            os.utime(os.path.join(self.package, name), ns=(stat.st_atime_ns, stat.st_mtime_ns))
        self.good("--dry-run")
        self.expect_live(first, self.files())
        self.good()
        self.expect_live(second)
        # What did not change was copied there: the two releases share no file.
        self.assertNotEqual(os.stat(self.dest("releases", first, "data/kernels")).st_ino,
                         os.stat(self.dest("releases", second, "data/kernels")).st_ino)
        self.good("--rollback")
        self.expect_live(first, self.files())
        self.good()
        # Back to the first: nothing is sent.
        self.make(self.files())
        self.assertIn("there already", self.good().stderr)
        self.expect_live(first)

    def test_P43_a_damaged_release_is_found_and_replaced(self):
        release = self.make(self.files("damaged"))
        self.good()
        path = self.dest("releases", release, "bin", "hello")
        with open(path, "r+b") as file:
            file.write(b"#!/bin/xx")
        result = self.deploy()
        self.assertEqual(result.returncode, 15)
        self.assertIn("altered: bin/hello", result.stderr)
        self.assertIn("--overwrite", result.stderr)
        self.good("--overwrite")
        self.expect_live(release)

    def test_without_rsync_on_the_board(self):
        release = self.make(self.files("tar"))
        rsync = os.path.join(self.root, "usr", "bin", "rsync")
        os.rename(rsync, rsync + ".away")
        try:
            self.assertIn("tar", self.good().stderr)
        finally:
            os.rename(rsync + ".away", rsync)
        self.expect_live(release)

    def test_P44_a_copy_that_stops_leaves_the_old_release(self):
        old = self.make(self.files("old"))
        self.good()
        files = self.files("interrupted")
        files["data/big"] = os.urandom(32 << 20)
        new = self.make(files)
        # An rsync on the board that dies in the middle.
        rsync = os.path.join(self.root, "usr", "bin", "rsync")
        os.rename(rsync, rsync + ".away")
        write(rsync, b"#!/bin/sh\n/usr/bin/rsync.away \"$@\" <&0 & sleep 1; kill -9 $!\n", 0o755)
        try:
            result = self.deploy()
        finally:
            os.rename(rsync + ".away", rsync)
        self.assertNotEqual(result.returncode, 0)
        self.assertNotIn("is live", result.stdout)
        self.assertEqual(os.readlink(self.dest("current")), f"releases/{old}")
        self.assertFalse(os.path.exists(self.dest("releases", new)))
        # The next one is right.
        self.good()
        self.expect_live(new)
        self.assertEqual([name for name in os.listdir(self.dest("releases")) if name.startswith(new)], [new])

    def test_a_package_that_is_not_as_its_manifest_says(self):
        self.make(self.files())
        os.remove(os.path.join(self.package, "data", "kernels"))
        write(os.path.join(self.package, "data", "stale"), b"")
        result = self.deploy()
        self.assertEqual(result.returncode, 15)
        self.assertIn("missing: data/kernels", result.stderr)
        self.assertIn("extra: data/stale", result.stderr)

    def test_another_machine(self):
        self.make(self.files(), triple="x86_64-linux-gnu")
        result = self.deploy()
        self.assertEqual(result.returncode, 12)
        self.assertIn("x86_64", result.stderr)
        self.assertIn("aarch64", result.stderr)

    def test_P41_an_odd_port_by_words_alone(self):
        release = self.make(self.files("port"))
        values = {}
        with open(self.config, encoding="utf-8") as file:
            for line in file:
                words = line.split(None, 1)
                if len(words) == 2:
                    values[words[0].lower()] = words[1].strip().strip('"')
        ssh = (f"ssh -F none -p {values['port']} -o 'UserKnownHostsFile=\"{values['userknownhostsfile']}\"' "
               f"-i '{values['identityfile']}' -o IdentitiesOnly=yes -o IdentityAgent=none")
        if "hostkeyalias" in values:
            ssh += f" -o HostKeyAlias={values['hostkeyalias']}"
        result = subprocess.run([TEENY, "deploy", "--package", self.package, "--host",
                                 f"{values['user']}@{values.get('hostname', '127.0.0.1')}", "--ssh", ssh,
                                 "--dest", DEST], capture_output=True, text=True,
                                stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.expect_live(release)

    def test_P42_an_unknown_host_key_does_not_hang(self):
        self.make(self.files())
        empty = os.path.join(self.board, "no hosts")
        write(empty, b"")
        start = time.monotonic()
        result = self.deploy(ssh=f"ssh -F '{self.config}' -o 'UserKnownHostsFile=\"{empty}\"'", timeout=60)
        self.assertLess(time.monotonic() - start, 10)
        self.assertEqual(result.returncode, 16, result.stderr)
        self.assertIn("SHA256:", result.stderr)
        self.assertIn("accept it once by hand", result.stderr)
        with open(empty, "rb") as file:
            self.assertEqual(file.read(), b"")

    def run_there(self, *words):
        return subprocess.Popen([TEENY, "run", "--package", self.package, "--host", "board", "--ssh",
                                 f"ssh -F '{self.config}'", "--dest", DEST, *words], text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_run(self):
        files = self.files()
        files["bin/hello"] = program("[ \"$1\" = wait ] && exec sleep 300; printf '[%s]' \"$@\"; cat; exit 7")
        self.make(files)
        with self.run_there("--", "it's $x", "") as running:
            output, error = running.communicate("in", timeout=120)
        self.assertEqual((running.returncode, output), (7, "[it's $x][]in"), error)
        asleep = "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c '[s]leep 300'"
        with self.run_there("--", "wait") as running:
            while self.on_board(asleep).stdout == "0\n":
                self.assertIsNone(running.poll())
            running.send_signal(signal.SIGINT)
            running.communicate(timeout=60)
        self.assertEqual(running.returncode, 128 + signal.SIGINT)
        self.assertEqual(self.on_board(asleep).stdout, "0\n")

    def test_a_place_that_the_login_may_not_write_to(self):
        self.make(self.files())
        result = subprocess.run([TEENY, "deploy", "--package", self.package, "--host", "board", "--ssh",
                                 f"ssh -F '{self.config}'", "--dest", "/opt/demo"], capture_output=True,
                                text=True, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("wanted to write into /opt", result.stderr)

    def test_unreachable(self):
        self.make(self.files())
        result = self.deploy(ssh=f"ssh -F '{self.config}' -p 1")
        self.assertEqual(result.returncode, 16, result.stderr)
        self.assertIn("no ssh server listens", result.stderr)


if __name__ == "__main__":
    main()

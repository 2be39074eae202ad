"""`teeny preflight` and `teeny boards probe` against the emulated board, over a real ssh.

The package's kernels are compiled by an example of this build; its program is a small one for the
board, which answers --device-facts as a teeny program with a CUDA driver would.
"""

import hashlib
import json
import os
import re
import shutil
import tempfile
import unittest

import e2e_support as e2e

COMPILER = shutil.which("aarch64-linux-gnu-gcc")
FACTS = {"schema": "teeny-device-facts/1",
         "devices": [{"name": "cuda:0", "description": "played", "capability": "sm_87", "driver": "12.4",
                      "integrated": True, "shared_bytes": 163 * 1024, "multiprocessors": 8,
                      "memory_total": 1 << 33, "memory_free": 1 << 32}]}
PROGRAM = """#include <stdio.h>
#include <string.h>
int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "%s") == 0) return puts("%s") < 0;
  return 9;
}
"""


def program(work, flag):
    """A program for the board that answers that flag."""
    source = os.path.join(work, "app.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(PROGRAM % (flag, json.dumps(FACTS).replace('"', '\\"')))
    e2e.must([COMPILER, "-O1", "-o", source[:-2], source])
    with open(source[:-2], "rb") as file:
        return file.read()


class Preflight(e2e.BoardTest):
    @classmethod
    def setUpClass(cls):
        if COMPILER is None:
            raise unittest.SkipTest("no cross compiler for the board on this machine")
        super().setUpClass()
        cls.ssh = f"ssh -F '{cls.config}'"
        cls.work = tempfile.mkdtemp(prefix="teeny preflight 'é $")
        cls.addClassCleanup(shutil.rmtree, cls.work, ignore_errors=True)
        cls.answering = program(cls.work, "--device-facts")
        cls.caches = {}

    def package(self, options="capability=sm_87,ptx-version=82", program_bytes=None):
        """A package of vector_add with kernels of those options."""
        if options not in self.caches:
            cache = os.path.join(self.work, f"cache {len(self.caches)}")
            e2e.must([e2e.program("vector_add"), "--device", "cuda", "--options", options, "--cache-dir", cache],
                     env=e2e.environment(TEENYC_PATH=e2e.TEENYC))
            self.caches[options] = cache
        package = os.path.join(self.work, "package")
        shutil.rmtree(package, ignore_errors=True)
        shutil.copytree(self.caches[options], os.path.join(package, "cache"),
                        ignore=shutil.ignore_patterns(".*"))
        for part in ("bin", "conf"):
            os.makedirs(os.path.join(package, part))
        path = os.path.join(package, "bin", "vector_add")
        with open(path, "wb") as file:
            file.write(program_bytes or self.answering)
        os.chmod(path, 0o755)
        files = []
        for name, (mode, data, _) in sorted(e2e.tree(package).items()):
            if data is not None:
                files.append({"path": name, "mode": "0755" if mode & 0o100 else "0644", "size": len(data),
                              "sha256": hashlib.sha256(data).hexdigest()})
        manifest = {"schema": "teeny-package/1", "name": "vector_add", "board": "jetson-orin-nano@6.0",
                    "triple": "aarch64-linux-gnu", "programs": ["vector_add"],
                    "devices": [{"device": "cuda", "options": options}], "files": files}
        with open(os.path.join(package, "conf", "manifest.json"), "w", encoding="utf-8") as file:
            json.dump(manifest, file)
        return package

    def preflight(self, package, code, *words):
        """The report as JSON; whatever the outcome, nothing is left on the board."""
        places = [os.path.join(self.root, place) for place in ("home", "tmp", "dev", "opt")]
        before = [e2e.tree(place) for place in places]
        result = e2e.run([e2e.TEENY, "preflight", "--package", package, "--json", "--host", "board", "--ssh",
                          self.ssh, *words])
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertEqual([e2e.tree(place) for place in places], before)
        return json.loads(result.stdout)

    def test_a_package_that_fits(self):
        report = self.preflight(self.package(), 0, "--dest", "/opt/a demo/not there")
        facts = {name: (fact["value"], fact["from"]) for name, fact in report["facts"].items()}
        self.assertEqual(facts["machine"], ("aarch64-linux-gnu", "probed"))
        self.assertEqual(facts["glibc"], ("2.36", "probed"))
        self.assertEqual(facts["libstdc++"], ("GLIBCXX_3.4.30", "probed"))
        self.assertEqual(facts["l4t"], ("R36.3.0", "probed"))
        # Its driver's own word, which is not that of the board files.
        self.assertEqual(facts["driver"], ("CUDA 12.4, PTX up to 8.4", "probed"))
        self.assertTrue(facts["gpu"][0].startswith("sm_87, 8 multiprocessors"), facts["gpu"])
        self.assertIn("available", facts["memory"][0])
        self.assertIn("free at /opt/a demo/not there", facts["disk"][0])
        self.assertIn("does not declare its device memory", " ".join(report["notices"]))

    def test_where_no_program_answers_the_l4t_table_does(self):
        report = self.preflight(self.package(program_bytes=program(self.work, "--other")), 0)
        self.assertEqual(report["facts"]["driver"], {"value": "CUDA 12.2, PTX up to 8.2", "from": "L4T table"})
        self.assertEqual(report["facts"]["gpu"]["from"], "L4T table")
        notices = " ".join(report["notices"])
        self.assertIn("does not know --device-facts", notices)
        self.assertIn("L4T R36.3.0", notices)
        # One that fails there is told with its own code.
        broken = self.answering.replace(b"--device-facts", b"--device-facts"[::-1], 1) + b"--device-facts"
        notices = " ".join(self.preflight(self.package(program_bytes=broken), 0)["notices"])
        self.assertIn("vector_add ended with exit code 9 there", notices)

    def test_P01_ptx_above_the_drivers_is_refused_before_anything_is_copied(self):
        self.preflight(self.package("capability=sm_87,ptx-version=84"), 0)
        package = self.package("capability=sm_87,ptx-version=85")
        findings = self.preflight(package, 11)["findings"]
        self.assertTrue(findings)
        for finding in findings:
            self.assertEqual(finding["code"], 11)
            for word in ("VectorAdd", "PTX 8.5", "driver 12.4", "PTX 8.4"):
                self.assertIn(word, finding["text"])
        # As text, all of it on standard error, with what to do.
        result = e2e.run([e2e.TEENY, "preflight", "--package", package, "--host", "board", "--ssh", self.ssh])
        self.assertEqual(result.returncode, 11)
        self.assertIn("would not run on board@6.0", result.stderr)
        self.assertRegex(result.stdout, r"driver +CUDA 12.4, PTX up to 8.4 +probed")
        # Against a later board's file it fits.
        later = e2e.run([e2e.TEENY, "preflight", "--package", package, "--board", "jetson-orin-nano@6.2"])
        self.assertEqual(later.returncode, 0, later.stderr)

    def test_P30_a_newer_c_library_than_the_boards_is_refused(self):
        newer = self.answering.replace(b"GLIBC_2.34\0", b"GLIBC_2.37\0")
        self.assertNotEqual(newer, self.answering)
        findings = self.preflight(self.package(program_bytes=newer), 12)["findings"]
        self.assertEqual(len(findings), 1, findings)
        self.assertIn("GLIBC_2.37 of libc.so.6", findings[0]["text"])
        self.assertIn("has up to GLIBC_2.36", findings[0]["text"])

    def test_a_board_that_cannot_be_reached(self):
        package = self.package()
        for host, ssh in (("board", "ssh -p 1 -F /dev/null -o HostName=127.0.0.1"), ("no.such.invalid", "ssh")):
            result = e2e.run([e2e.TEENY, "preflight", "--package", package, "--host", host, "--ssh", ssh])
            self.assertEqual(result.returncode, 16, result.stderr)
            self.assertIn("looking at the board", result.stderr)

    def test_a_board_file_of_a_live_board(self):
        path = os.path.join(self.work, "my board.toml")
        probed = [e2e.TEENY, "boards", "probe", "board", "--ssh", self.ssh]
        text = e2e.must(probed).stdout
        self.assertIn('driver = "12.2" # L4T table', text)
        e2e.must([*probed, "-o", path, "--package", self.package()])
        with open(path, encoding="utf-8") as file:
            self.assertIn('driver = "12.4"\n', file.read())
        board = json.loads(e2e.must([e2e.TEENY, "boards", path, "--json"]).stdout)
        self.assertEqual(board["cuda"]["capability"], "sm_87")
        self.assertEqual([one["l4t"] for one in board["generations"]], ["R36.3.0"])
        result = e2e.run([e2e.TEENY, "preflight", "--package", self.package(), "--board", path])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(re.search(r"fits board@6\.0\n", result.stdout), result.stdout)


if __name__ == "__main__":
    e2e.main()

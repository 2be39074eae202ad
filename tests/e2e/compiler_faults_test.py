"""A compiler that goes wrong in one kernel costs that kernel, and says which it was.

teenyc-faulty is teenyc with a fault planted for one kernel's name. However it ends (abort, crash,
silence, an early exit, garbage for an answer), the program ends with 1, its one error names the
kernel and the file that keeps the kernel's IR, and every other kernel is there.

Budget: 60 s on two quiet cores (some ten runs of image_filter's five kernels, 5 s of them waiting).
"""

import json
import os
import re
import stat
import time
import unittest

import e2e_support as e2e

KERNEL = "Edges"
DEVICE = ["--device", "cuda", "--options", "capability=sm_75"]
PATIENCE = 5  # seconds: the kernels without a fault must make it on a busy machine, too


def artifacts(cache):
    """Name of the kernel's directory -> its artifact's path."""
    found = {}
    for top, _, names in os.walk(cache):
        for name in names:
            if name.endswith(".ptx"):
                found[os.path.basename(top)] = os.path.join(top, name)
    return found


def code_and_target(path):
    """An artifact's PTX, and the target that the lines after it record."""
    with open(path, encoding="utf-8") as file:
        code, info = file.read().rsplit("//teeny-artifact ", 1)
    return code, json.loads(re.search(r"\{.*\}", info).group())["target"]


class CompilerFaults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = e2e.scratch("compiler_faults")
        cls.example = e2e.program("image_filter")
        cls.faulty = e2e.program("teenyc-faulty")
        cls.good = os.path.join(cls.work, "good")
        e2e.must([cls.example, *DEVICE, "--cache-dir", cls.good],
                 env=e2e.environment(TEENYC_PATH=e2e.program("teenyc")))
        cls.kernels = set(artifacts(cls.good))
        cls.broken = {name for name in cls.kernels if name.startswith(KERNEL + "-")}
        assert len(cls.broken) == 1 and len(cls.kernels) >= 3, cls.kernels

    def check(self, fault, says, patience=60):
        cache = os.path.join(self.work, fault)
        kept_below = os.path.join(self.work, fault + " kept")
        os.mkdir(kept_below)
        env = e2e.environment(TEENYC_PATH=self.faulty, TEENYC_FAULT=f"{fault}:{KERNEL}",
                              TEENYC_TIMEOUT=str(patience), TMPDIR=kept_below)
        result = e2e.run([self.example, *DEVICE, "--cache-dir", cache], env=env)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertNotIn("terminate called", result.stderr)
        errors = [line for line in result.stderr.splitlines() if "error:" in line]
        self.assertEqual(len(errors), 1, result.stderr)
        self.assertIn(f"kernel {KERNEL} for sm_75", errors[0])
        self.assertRegex(result.stderr, says)

        # The kernel's IR is kept where only its owner looks, and is what a healthy teenyc takes.
        kept = re.search(r"IR is kept for a report in (\S.*\.tir)$", result.stderr, re.MULTILINE)
        self.assertIsNotNone(kept, result.stderr)
        path = kept.group(1)
        self.assertTrue(path.startswith(kept_below + "/"), path)
        self.assertEqual(stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode), 0o700)
        want, target = code_and_target(artifacts(self.good)[next(iter(self.broken))])
        output = path + ".ptx"
        e2e.must([e2e.program("teenyc"), "compile", path, "--target", target, "-o", output])
        with open(output, encoding="utf-8") as file:
            self.assertEqual(file.read().strip(), want.strip())

        # The others are there, whole, and nothing half-made is.
        self.assertEqual(set(artifacts(cache)), self.kernels - self.broken)
        for top, _, names in os.walk(cache):
            for name in names:
                self.assertRegex(name, r"\.(ptx|tir|json)$", os.path.join(top, name))
        env["TEENYC_FAULT"] = ""
        again = e2e.must([self.example, *DEVICE, "--cache-dir", cache], env=env)
        self.assertEqual(again.stdout.count("already there"), len(self.kernels) - 1, again.stdout)
        self.assertEqual(set(artifacts(cache)), self.kernels)

    def test_an_abort(self):
        self.check("abort", "SIGABRT")

    def test_a_crash(self):
        self.check("crash", "SIGSEGV")

    def test_a_hang(self):
        began = time.monotonic()
        self.check("hang", f"within {PATIENCE} s(.|\n)*TEENYC_TIMEOUT", PATIENCE)
        self.assertLess(time.monotonic() - began, PATIENCE + 60)

    def test_an_early_exit(self):
        self.check("exit", "exit code 3")

    def test_answers_that_are_none(self):
        self.check("garbage", "not its protocol")
        self.check("short", "ended by itself")


if __name__ == "__main__":
    e2e.main()

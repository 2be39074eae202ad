"""Machine code that fits the driver: which assembler makes it, and what happens where none does.

A driver of CUDA 12 (JetPack 6) gets ELF ABI 7, one of CUDA 13 (JetPack 7) ABI 8, Xavier's JetPack 5
code of CUDA 11. P02: a package for a named board holds machine code for exactly its chip beside the
PTX. An assembler that is missing, fails, hangs or writes garbage is an error that names it.

Budget: 90 s on two quiet cores, of which 60 are the board wing's build for the board.
"""

import json
import os
import struct
import unittest

import e2e_support as e2e

KERNEL = "VectorAdd"


def header(path):
    """(ABI version, capability) of an ELF header as ptxas writes it."""
    with open(path, "rb") as file:
        data = file.read(64)
    assert data[:4] == b"\x7fELF" and struct.unpack_from("<H", data, 18)[0] == 190, path
    flags = struct.unpack_from("<I", data, 48)[0]
    return data[8], (flags >> 8 if data[8] >= 8 else flags) & 0xff


def description(path):
    """The JSON that an artifact with an ELF image ends in."""
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack_from("<Q", data, len(data) - 84)[0]
    return json.loads(data[len(data) - 92 - size:len(data) - 92])


def found(cache, extension):
    return sorted(os.path.join(top, name) for top, _, names in os.walk(cache) for name in names
                  if name.endswith(extension))


class MachineCode(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = e2e.scratch("machine code é")
        cls.example = e2e.program("vector_add")

    def ahead(self, name, options, **environment):
        """The finished run that compiles the example's kernels, and the cache that it filled."""
        cache = os.path.join(self.work, name)
        env = e2e.environment(TEENYC_PATH=e2e.program("teenyc"), **environment)
        return e2e.run([self.example, "--device", "cuda", "--options", options, "--cache-dir", cache],
                       env=env), cache

    def good(self, name, options, **environment):
        result, cache = self.ahead(name, options, **environment)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result, cache

    def fake(self, name, version, body):
        """A script in ptxas's place, which logs how it is started."""
        path = os.path.join(self.work, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\necho \"$@\" >> '{path}.log'\n"
                       f"if [ \"$1\" = --version ]; then echo 'Cuda compilation tools, release "
                       f"{version.rsplit('.', 1)[0]}, V{version}'; exit 0; fi\n{body}\n")
        os.chmod(path, 0o755)
        return path

    def starts(self, path):
        if not os.path.exists(path + ".log"):
            return []
        with open(path + ".log", encoding="utf-8") as file:
            return file.read().splitlines()

    # ---- which assembler

    def test_the_driver_decides(self):
        for options, major, abi, chip in (("capability=sm_87,driver=12.2", 12, 7, 87),
                                          ("capability=sm_87,driver=12.6", 12, 7, 87),
                                          ("capability=sm_87,driver=13.2", 13, 8, 87),
                                          ("capability=sm_87,driver=11.4", 11, 7, 87),
                                          ("capability=sm_72,driver=11.4", 11, 7, 72),
                                          ("capability=sm_110,driver=13.0", 13, 8, 110)):
            with self.subTest(options):
                result, cache = self.good(options, options)
                codes = found(cache, ".cubin")
                self.assertEqual(len(codes), len(found(cache, ".ptx")))
                self.assertTrue(codes)
                for path in codes:
                    self.assertEqual(header(path), (abi, chip))
                    info = description(path)
                    self.assertEqual(info["elf_abi"], abi)
                    self.assertRegex(info["assembler"], rf"^ptxas {major}\.\d+\.\d+$")
                    self.assertGreater(info["registers"], 0)
                    self.assertEqual(info["spill_bytes"], 0)
                self.assertRegex(result.stdout, rf"{KERNEL}<float, 1024>  sm_{chip} only  machine code, "
                                 rf"ptxas {major}\.\d+\.\d+  \d+ registers  0 bytes spilled  "
                                 r"\d+ bytes shared  \d+ bytes  \d+\.\d ms")
                self.assertIn("  PTX ", result.stdout)

    def test_without_a_driver_or_where_it_is_not_wanted_there_is_ptx_alone(self):
        for options in ("capability=sm_87", "capability=sm_87,driver=12.6,machine-code=no"):
            _, cache = self.good("ptx " + options, options)
            self.assertTrue(found(cache, ".ptx"))
            self.assertEqual(found(cache, ".cubin"), [])

    def test_equal_builds_are_equal(self):
        trees = []
        for name in ("one", "another place"):
            _, cache = self.good(name, "capability=sm_87,driver=12.2", TMPDIR=self.work)
            trees.append(e2e.tree(cache))
        self.assertEqual(*trees)
        self.assertNotIn("teenyc-ptxas", " ".join(os.listdir(self.work)))

    def test_a_hit_starts_no_assembler(self):
        _, cache = self.good("real", "capability=sm_87,driver=13.0")
        version = description(found(cache, ".cubin")[0])["assembler"].split()[1]
        real = json.loads(e2e.run([e2e.TEENY, "doctor", "--json"]).stdout)
        real = next(row["path"] for row in real["assemblers"] if row["version"] == version)
        counted = self.fake("counted", version, f"exec '{real}' \"$@\"")
        for times in ("first", "second"):
            self.good("hits", "capability=sm_87,driver=13.0", TEENY_PTXAS=counted)
            starts = self.starts(counted)
            if times == "first":
                self.assertGreater(len([words for words in starts if words != "--version"]), 0)
                before = len(starts)
        self.assertEqual(self.starts(counted)[before:], ["--version"])

    # ---- none that fits, or one that goes wrong

    def test_an_assembler_that_is_missing(self):
        newer = self.fake("newer", "13.0.88", "exit 1")
        result, cache = self.ahead("missing", "capability=sm_87,driver=12.2,machine-code=yes",
                                   TEENY_PTXAS=newer)
        self.assertEqual(result.returncode, 1, result.stderr)
        for part in ("wanted ptxas of CUDA 12", newer, "teeny install-toolchain", "machine-code=no"):
            self.assertIn(part, result.stderr)
        self.assertFalse(os.path.exists(cache), "something was compiled")
        # Said, and left to the driver, where it was not asked for.
        result, cache = self.good("auto", "capability=sm_87,driver=12.2", TEENY_PTXAS=newer)
        self.assertIn("wanted ptxas of CUDA 12", result.stderr)
        self.assertEqual(found(cache, ".cubin"), [])
        # A package for a board does without only where it is told to.
        result = e2e.run([e2e.TEENY, "package", "--target", "jetson-orin-nano", "--example",
                          "vector_add", "--device", "cuda"], cwd=e2e.SOURCE_DIR,
                         env=e2e.environment(TEENY_PTXAS=newer))
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("wanted ptxas of CUDA 12", result.stderr)
        self.assertIn("teeny install-toolchain", result.stderr)
        self.assertNotIn("building", result.stderr)

    def test_an_assembler_that_goes_wrong_names_the_kernel(self):
        for name, body, says in (
                ("fails", "echo 'ptxas fatal : out of luck' >&2; exit 255", "out of luck"),
                ("crashes", "kill -SEGV $$", "signal 11"),
                ("hangs", "sleep 1000", "did not end within"),
                ("garbage", "echo no machine code > kernel.cubin", "no machine code"),
                ("nothing", "exit 0", "wrote nothing"),
                ("another chip", "cp /bin/true kernel.cubin", "no machine code")):
            with self.subTest(name):
                program = self.fake(name, "12.9.86", body)
                kept = os.path.join(self.work, name + " kept")
                os.mkdir(kept)
                result, cache = self.ahead(name + " cache", "capability=sm_87,driver=12.2",
                                           TEENY_PTXAS=program, TMPDIR=kept, TEENYC_TIMEOUT="2")
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertIn(f"kernel {KERNEL}", result.stderr)
                self.assertIn(says, result.stderr)
                self.assertIn(program, result.stderr)
                texts = [path for path in found(kept, ".ptx") if os.path.basename(path) == KERNEL + ".ptx"]
                self.assertTrue(texts, found(kept, ""))
                for path in texts:
                    self.assertIn(path, result.stderr)
                    with open(path, encoding="utf-8") as file:
                        self.assertIn(f".entry {KERNEL}(", file.read())
                self.assertEqual(found(cache, ".cubin"), [])
                self.assertEqual(found(cache, ".json"), [], "the program was recorded")

    # ---- packages

    def test_P02_a_package_holds_exact_machine_code_for_its_generation(self):
        for target, abi, driver in (("jetson-orin-nano", 7, "12.2"), ("jetson-orin-nano@7.2", 8, "13.2")):
            with self.subTest(target):
                package = os.path.join(self.work, target)
                e2e.must([e2e.TEENY, "package", "--target", target, "--example", "vector_add",
                          "--device", "cuda", "--dest", package], cwd=e2e.SOURCE_DIR, timeout=1500)
                with open(os.path.join(package, "conf", "manifest.json"), encoding="utf-8") as file:
                    manifest = json.load(file)
                self.assertEqual(manifest["devices"][0]["options"], f"capability=sm_87,driver={driver}")
                forms = {}
                for kernel in manifest["kernels"]:
                    forms.setdefault(kernel["type"], {})[kernel["kind"]] = kernel
                self.assertTrue(forms)
                for kind in forms.values():
                    self.assertEqual(set(kind), {"ptx", "cubin"})
                    code = kind["cubin"]
                    self.assertEqual((code["sm"], code["elf_abi"]), ("sm_87", abi))
                    self.assertEqual(header(os.path.join(package, code["artifact"])), (abi, 87))
                    self.assertIn(code["assembler"].split()[1], manifest["tools"]["ptxas"])
                    for field in ("registers", "spill_bytes", "shared_bytes"):
                        self.assertGreaterEqual(code[field], 0)
                    self.assertEqual(kind["ptx"]["sm"], "sm_87")


if __name__ == "__main__":
    e2e.main()

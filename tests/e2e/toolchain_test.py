"""`teeny install-toolchain` and `teeny doctor`, with an index of wheels that is a folder.

A copy of the tool with a list of pins of its own fetches scripts in ptxas's place, so that no network
is used. Budget: 30 s on two quiet cores.
"""

import hashlib
import json
import os
import shutil
import sys
import unittest
import urllib.request
import zipfile

import e2e_support as e2e

PINS = {"nvidia-cuda-nvcc-cu11": "11.8.89", "nvidia-cuda-nvcc-cu12": "12.9.86",
        "nvidia-cuda-nvcc": "13.0.88"}


class Toolchain(unittest.TestCase):
    def setUp(self):
        self.work = e2e.scratch("toolchain é")
        self.prefix = os.path.join(self.work, "pre fix")
        os.makedirs(os.path.join(self.prefix, "bin"))
        self.teeny = shutil.copy(e2e.TEENY, os.path.join(self.prefix, "bin", "teeny"))
        share = os.path.join(self.prefix, "share", "teeny")
        shutil.copytree(os.path.join(e2e.SOURCE_DIR, "boards"), os.path.join(share, "boards"))
        shutil.copytree(os.path.join(e2e.SOURCE_DIR, "assemblers"), os.path.join(share, "assemblers"))
        self.pins = os.path.join(share, "assemblers", "pinned.txt")
        self.folder = os.path.join(share, "toolchain")
        self.wheels = os.path.join(self.work, "wheels")
        os.mkdir(self.wheels)
        lines = []
        for name, version in PINS.items():
            lines.append(f"{name}=={version} --hash=sha256:{self.wheel(name, version)}\n")
        with open(self.pins, "w", encoding="ascii") as file:
            file.writelines(lines)
        self.env = e2e.environment(PIP_NO_INDEX="1", PIP_FIND_LINKS="file://" + urllib.request.pathname2url(self.wheels),
                                   HOME="/nonexistent")

    def wheel(self, name, version, says=None):
        """Writes a wheel with a script for ptxas; its digest."""
        stem = f"{name.replace('-', '_')}-{version}"
        script = (f"#!/bin/sh\necho 'Cuda compilation tools, release {version.rsplit('.', 1)[0]}, "
                  f"V{says or version}'\n")
        path = os.path.join(self.wheels, f"{stem}-py3-none-any.whl")
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("nvidia/cuda_nvcc/bin/ptxas", script)
            archive.writestr("nvidia/cuda_nvcc/lib/other", "not wanted")
            archive.writestr(f"{stem}.dist-info/METADATA",
                             f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
            archive.writestr(f"{stem}.dist-info/WHEEL",
                             "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{stem}.dist-info/License.txt", "a licence")
            archive.writestr(f"{stem}.dist-info/RECORD", "")
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()

    def run_teeny(self, *words, **more):
        return e2e.run([self.teeny, *words], env=dict(self.env, **more), cwd=self.work)

    def test_fetches_each_once_and_doctor_shows_them(self):
        result = self.run_teeny("install-toolchain", "--cuda", "12")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("fetched ptxas 12.9.86", result.stdout)
        self.assertEqual(os.listdir(self.folder), ["ptxas-12.9.86"])
        result = self.run_teeny("install-toolchain")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("12.9.86", result.stdout)
        self.assertEqual(sorted(e2e.tree(self.folder)),
                         sorted(path for version in PINS.values() for path in (
                             f"ptxas-{version}", f"ptxas-{version}/bin", f"ptxas-{version}/bin/ptxas",
                             f"ptxas-{version}/License.txt")))
        again = self.run_teeny("install-toolchain", PIP_FIND_LINKS="/nonexistent")
        self.assertEqual((again.returncode, again.stdout), (0, ""), again.stderr)
        doctor = self.run_teeny("doctor", "--json")
        told = json.loads(doctor.stdout)
        rows = {row["version"]: row for row in told["assemblers"] if row["path"].startswith(self.prefix)}
        self.assertEqual(set(rows), set(PINS.values()))
        self.assertEqual(rows["12.9.86"]["highest_ptx"], "8.8")
        self.assertIn("jetson-orin-nano@6.0", rows["12.9.86"]["boards"])
        self.assertIn("jetson-xavier-nx@5.1", rows["11.8.89"]["boards"])
        # This prefix has no teenyc.
        self.assertEqual(doctor.returncode, 1)
        self.assertEqual([p for p in told["problems"] if "teenyc" not in p["what"]], [])
        self.assertIn("teenyc", self.run_teeny("doctor").stdout)

    def test_another_folder(self):
        there = os.path.join(self.work, "else where")
        result = self.run_teeny("install-toolchain", "--cuda", "11", "--path", there)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("TEENY_PTXAS", result.stderr)
        self.assertEqual(os.listdir(there), ["ptxas-11.8.89"])
        self.assertFalse(os.path.exists(self.folder))

    def test_what_cannot_be_had_is_named_and_leaves_nothing(self):
        os.remove(os.path.join(self.wheels, "nvidia_cuda_nvcc_cu11-11.8.89-py3-none-any.whl"))
        self.wheel("nvidia-cuda-nvcc-cu12", "12.9.86", says="12.9.87")  # another digest
        result = self.run_teeny("install-toolchain")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("could not fetch ptxas 11.8.89 (wheel nvidia-cuda-nvcc-cu11)", result.stderr)
        self.assertIn("could not fetch ptxas 12.9.86", result.stderr)
        self.assertEqual(os.listdir(self.folder), ["ptxas-13.0.88"])

    def test_words_it_does_not_know(self):
        self.assertEqual(self.run_teeny("install-toolchain", "--cuda", "9").returncode, 2)
        self.assertEqual(self.run_teeny("install-toolchain", "--path", "").returncode, 2)
        self.assertEqual(self.run_teeny("doctor", "--target", "nothing").returncode, 2)

    def test_doctor_names_what_is_missing(self):
        ptxas = os.path.join(self.work, "ptxas")
        with open(ptxas, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho 'Cuda compilation tools, release 13.0, V13.0.88'\n")
        os.chmod(ptxas, 0o755)
        result = self.run_teeny("doctor", "--target", "jetson-orin-nano@6.2", TEENY_PTXAS=ptxas)
        self.assertEqual(result.returncode, 1)
        self.assertIn("machine code for jetson-orin-nano@6.2 (sm_87, driver 12.6) wants ptxas of CUDA 12",
                      result.stdout)
        self.assertIn("teeny install-toolchain", result.stdout)
        self.assertNotIn("@6.0", result.stdout)
        self.assertNotIn("xavier", result.stdout)


if __name__ == "__main__":
    if not sys.executable:
        sys.exit("no python3 to fetch with")
    e2e.main()

"""Every kernel of every example becomes PTX that ptxas takes, for every capability.

No GPU, no driver. Each PTX is assembled for the very chip that it names, and all of them must keep
everything in registers.

Budget: 120 s on two quiet cores (about 20 s of compilation and 60 s of ptxas, two at a time).
"""

import collections
import concurrent.futures
import os
import re
import unittest

import e2e_support as e2e

CAPABILITIES = ["sm_72", "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a", "sm_100",
                "sm_103", "sm_110", "sm_120", "sm_121"]


def assemble(assemblers, path):
    """(what ptxas complains of or None, bytes of spills) of one artifact."""
    chip = os.path.basename(path).split(".")[0]
    output = path + ".cubin"
    result = e2e.run([assemblers[chip], "-v", f"-arch={chip}", "-o", output, path])
    log = result.stdout + result.stderr
    spills = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", log)
    if result.returncode != 0 or not spills:
        return log, 0
    os.unlink(output)
    return None, sum(int(stores) + int(loads) for stores, loads in spills)


class Ptxas(unittest.TestCase):
    def test_every_kernel_for_every_capability(self):
        assemblers = e2e.ptxas_by_chip()
        self.assertLessEqual(set(CAPABILITIES), set(assemblers), "an assembler is missing: run ./setup")
        cache = os.path.join(e2e.scratch("ptxas"), "cache")
        devices = [word for name in CAPABILITIES
                   for word in ("--device", "cuda", "--options", f"capability={name}")]
        env = e2e.environment(TEENYC_PATH=e2e.program("teenyc"))
        kernels = 0
        for name in e2e.examples():
            listed = e2e.must([e2e.program(name), "--list"], env=env).stdout.splitlines()
            self.assertTrue(listed, name)
            kernels += len({line.split("\t")[1] for line in listed})
            e2e.must([e2e.program(name), *devices, "--cache-dir", cache], env=env)

        # kernel directory -> the capabilities there is PTX for
        made = collections.defaultdict(set)
        paths = []
        for top, _, names in os.walk(cache):
            for name in names:
                if name.endswith(".ptx"):
                    made[os.path.basename(top)].add(name.split(".")[0])
                    paths.append(os.path.join(top, name))
        self.assertEqual(len(made), kernels)
        for kernel, found in made.items():
            self.assertEqual(found, set(CAPABILITIES), kernel)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda path: assemble(assemblers, path), paths))
        for path, (problem, spills) in zip(paths, results):
            self.assertIsNone(problem, f"{path}:\n{problem}")
            self.assertEqual(spills, 0, f"{path} spills {spills} bytes")
        print(f"{len(paths)} PTX texts of {kernels} kernels assembled, none with spills")


if __name__ == "__main__":
    e2e.main()

#!/usr/bin/env python3
"""How long `teeny` takes to start, and to refuse a command line: startup.py [TEENY] [RUNS]

Each is a process of its own, its files in the page cache. Prints least, median and 95th percentile in
milliseconds beside the goal; exits 1 when a median misses it.
"""

import os
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What is typed, its exit code, the goal in milliseconds.
CASES = [
    (["--version"], 0, 30),
    (["--help"], 0, 30),
    (["biuld"], 2, 100),
    (["build", "--target", "jetson-orin-nona"], 2, 100),
    (["aot", "--bin", "app", "--device", "cuda", "--options", "capability=sm_88x"], 2, 100),
    (["package", "--target", "jetson-orin-nano", "--bin", "app", "--device", "cuda", "--options",
      "capability=sm_89"], 2, 100),
]


def times(command, code, runs):
    found = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        result = subprocess.run(command, capture_output=True, check=False)
        found.append((time.perf_counter() - start) * 1000)
        if result.returncode != code:
            sys.exit(f"{command} ended with {result.returncode}, wanted {code}: {result.stderr.decode()}")
    return sorted(found[1:])  # the first one reads the disk


def main():
    teeny = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build", "bin", "teeny")
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    missed = False
    print("| teeny ... | least | median | 95 % | goal |\n|---|---|---|---|---|")
    for words, code, goal in CASES:
        all_times = times([teeny, *words], code, runs)
        median = statistics.median(all_times)
        missed |= median > goal
        print(f"| `{' '.join(words)}` | {all_times[0]:.1f} ms | {median:.1f} ms | "
              f"{all_times[int(len(all_times) * 0.95) - 1]:.1f} ms | {goal} ms |")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

"""The same as vector_add_bench.cpp in Triton, the peer: one line of JSON for each block size.

    vector_add_triton.py [elements=268435456] [batches=20] [launches=20]
"""

import json
import statistics
import sys

import torch
import triton
import triton.language as tl


@triton.jit
def vector_add(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(a + i, mask=inside) + tl.load(b + i, mask=inside), mask=inside)


def measure(block, sizes, a, b, out):
    n = sizes["elements"]

    def launches():
        for _ in range(sizes["launches"]):
            vector_add[(triton.cdiv(n, block),)](a, b, out, n, BLOCK=block)

    out.fill_(float("nan"))
    launches()
    times = []
    for _ in range(sizes["batches"]):
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        begin.record()
        launches()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / sizes["launches"])
    ms = statistics.median(times)
    print(json.dumps({"by": f"triton {triton.__version__}", "block": block, "elements": n, "ms": ms,
                      "gbps": round(12 * n / ms * 1e-6, 1), "right": torch.equal(out, a + b)}),
          flush=True)


def main():
    sizes = {"elements": 1 << 28, "batches": 20, "launches": 20}
    for word in sys.argv[1:]:
        key, _, value = word.partition("=")
        if key not in sizes or not value.isdigit() or int(value) < 1:
            sys.exit(f"wanted elements=N, batches=N or launches=N, found {word}")
        sizes[key] = int(value)
    torch.manual_seed(1)
    a, b = (torch.rand(sizes["elements"], device="cuda") for _ in range(2))
    out = torch.empty_like(a)
    for block in (1024, 2048, 4096):
        measure(block, sizes, a, b, out)


if __name__ == "__main__":
    main()

#!/usr/bin/env bash
# vector_add.sh PACKAGE [word=N...]: runs PACKAGE/bin/vector_add_bench and vector_add_triton.py by
# turns, five times each, and prints how their best runs, and each of their block sizes, compare.
# PYTHON names a Python with torch and triton.
set -euo pipefail
package=${1:?usage: vector_add.sh PACKAGE [word=N...]}
shift
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
for round in 1 2 3 4 5; do
  "$package/bin/vector_add_bench" --on cuda "$@" | tee -a "$lines"
  "${PYTHON:-python3}" "$here/vector_add_triton.py" "$@" | tee -a "$lines"
done
"${PYTHON:-python3}" - "$lines" <<'PYTHON'
import collections, json, statistics, sys

runs = collections.defaultdict(list)
for line in open(sys.argv[1]):
    run = json.loads(line)
    if not run["right"]:
        sys.exit(f"a wrong result: {line}")
    runs[run["by"].split()[0], run["block"]].append(run["gbps"])
medians = {key: statistics.median(found) for key, found in runs.items()}
for block in sorted({block for _, block in medians}):
    ours, theirs = medians["teeny", block], medians["triton", block]
    print(f"block {block}: teeny {ours:.1f} GB/s, triton {theirs:.1f} GB/s (medians of "
          f"{len(runs['teeny', block])}), ratio {ours / theirs:.4f}")
best = {by: max(found for (name, _), found in medians.items() if name == by)
        for by in ("teeny", "triton")}
print(f"best block sizes: ratio {best['teeny'] / best['triton']:.4f}")
PYTHON

#!/usr/bin/env bash
# The builds and their tests, after ./setup. The builds without LLVM come first: the end-to-end tests
# of the full build compare with what they made.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

step() {
  printf '\n== %s\n' "$*" >&2
}

for preset in default gcc-O0 aarch64 clang asan; do
  step "build $preset"
  cmake --preset "$preset" -Wno-dev > "build/$preset.configure.log" 2>&1 || {
    cat "build/$preset.configure.log"
    exit 1
  }
  cmake --build --preset "$preset" -- -k 20
done

failed=()
for preset in clang asan default; do
  step "test $preset"
  ctest --preset "$preset" --progress || failed+=("$preset")
done
if [ ${#failed[@]} -gt 0 ]; then
  echo "failed: ${failed[*]}" >&2
  exit 1
fi

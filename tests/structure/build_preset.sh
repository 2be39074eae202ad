#!/usr/bin/env bash
# Builds one preset: the board wing and the examples as another compiler, C++ library or set of flags
# sees them. Exit 77, with the reason, where what it compiles against cannot be had.
set -euo pipefail
preset=${1:?usage: build_preset.sh PRESET}
cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../.."
if [ "$preset" = libstdcxx-10 ]; then
  tests/board/sysroot bullseye > /dev/null
fi
log=build/$preset.configure.log
mkdir -p build
cmake --preset "$preset" -Wno-dev > "$log" 2>&1 || {
  cat "$log"
  exit 1
}
cmake --build --preset "$preset" -- -k 20

#!/usr/bin/env bash
# Makes a package of the tests that every device must pass: tests/runtime/device_tests.sh DIR [OPTIONS]
# with OPTIONS for --device cuda (capability=sm_90). Carried to a machine with a device, all of them
# run there with DIR/bin/device_tests.
set -euo pipefail
directory=$(realpath -m "${1:?usage: device_tests.sh DIR [OPTIONS]}")
options=${2:-capability=sm_90}
cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../.."
cmake --build build --target device_tests teenyc
rm -f "$directory/conf/manifest.json"
mkdir -p "$directory/bin" "$directory/cache" "$directory/conf"
cp build/tests/device_tests "$directory/bin/"
TEENYC_PATH=$PWD/build/bin/teenyc "$directory/bin/device_tests" --device cuda --options "$options" \
  --device cpu --options cpu=x86-64-v3 --cache-dir "$directory/cache"
printf '{}\n' > "$directory/conf/manifest.json" # a package to the program: closed, with records

#!/usr/bin/env bash
# The main journey, after ./setup: package image_filter for a Jetson Orin Nano, deploy it over ssh to an
# emulated board, run it there on a photograph, and compare with this machine's own result.
#
#   demo.sh [PHOTO]
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
photo=$(realpath "${1:-$here/../../build/photo/coffee.png}")
cd "$here/../.."

step() { printf '\n\033[1m%s\033[0m\n' "$*"; }
show() { printf '$ %s\n' "$*"; "$@"; }

step "Build teeny, its compiler and the examples"
mkdir -p build
cmake --preset default -Wno-dev > build/demo-configure.log || { cat build/demo-configure.log; exit 1; }
cmake --build --preset default --target programs

out=$PWD/build/demo
rm -rf "$out"
mkdir -p "$out"
export PATH=$PWD/build/bin:$PATH

step "Package it for a board that is not here"
show teeny package --target jetson-orin-nano --example image_filter \
  --device cuda --options "capability=sm_87,ptx-version=82" --device cpu
package=build/package/jetson-orin-nano/image_filter

if [ "$(id -u)" = 0 ] && config=$(tests/board/board start "$out/board"); then
  trap 'tests/board/board stop "$out/board"' EXIT
  step "Deploy it over ssh to an emulated arm64 board"
  show teeny deploy --package "$package" --host board --ssh "ssh -F $config" --dest /home/nvidia/image_filter

  step "Run it there, on a photograph"
  on_board() { ssh -F "$config" board "$@"; }
  scp -q -F "$config" "$photo" board:photo
  show on_board image_filter/current/bin/image_filter photo picture.png
  scp -q -F "$config" board:picture.png "$out/board.png"
else
  step "No emulated board here (it needs root): running the AArch64 program under qemu-aarch64"
  show qemu-aarch64 -L /usr/aarch64-linux-gnu "$package/bin/image_filter" "$photo" "$out/board.png"
fi

step "Run it here, and compare"
show build/bin/image_filter --on cpu "$photo" "$out/desktop.png"
show build/bin/image_filter compare "$out/board.png" "$out/desktop.png"

step "The package"
(cd "$package" && find . -type f | LC_ALL=C sort | xargs -d '\n' ls -l --time-style=+ | awk '{print $5, $NF}')
printf '\nThe photograph:              %s\nThe picture from the board:  %s\n' "$photo" "$out/board.png"

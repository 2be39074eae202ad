#!/usr/bin/env bash
# sanitize.sh PACKAGE PHOTO: every example of PACKAGE under each tool of compute-sanitizer, after the
# fault that the tool is there for (PACKAGE/bin/planted_faults). Exit code 1 when an example is not
# clean, or when a planted fault goes unseen: then its silence means nothing.
set -euo pipefail
package=${1:?usage: sanitize.sh PACKAGE PHOTO}
photo=${2:?usage: sanitize.sh PACKAGE PHOTO}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sanitizer=$(PATH=$PATH:/usr/local/cuda/bin command -v compute-sanitizer) || {
  echo "compute-sanitizer is not on PATH: it comes with the CUDA toolkit" >&2
  exit 1
}
"$sanitizer" --version | tail -1

failed=0
# judge TOOL WANTED PROGRAM ARGUMENT...: WANTED is clean or fault.
judge() {
  local tool=$1 wanted=$2 code=0 found=clean
  shift 2
  timeout 300 "$sanitizer" --tool "$tool" --error-exitcode 99 "$package/bin/$1" --on cuda "${@:2}" \
    > "$work/log" 2>&1 || code=$?
  # What the tool itself counted; a program that stops because of the fault says so in its own way.
  local count
  count=$(sed -nE 's/.*(ERROR|RACECHECK) SUMMARY: ([0-9]+) (error|hazard).*/\2/p' "$work/log" | tail -1)
  if [ "${count:-0}" -gt 0 ]; then
    found=fault
  elif [ -z "$count" ]; then
    found="no summary"
  elif [ "$code" != 0 ]; then
    found="exit code $code"
  fi
  printf '| %s | %s | wanted %s, found %s |\n' "$tool" "$1${2:+ ${*:2}}" "$wanted" "$found"
  if [ "$found" != "$wanted" ]; then
    failed=1
    tail -40 "$work/log"
  else
    grep -E 'SUMMARY' "$work/log" | sed 's/^=* */  /'
  fi
}

for pair in memcheck:out-of-bounds racecheck:race initcheck:uninitialised; do
  tool=${pair%%:*}
  judge "$tool" fault planted_faults "${pair#*:}"
  judge "$tool" clean vector_add
  judge "$tool" clean softmax
  judge "$tool" clean matmul
  judge "$tool" clean image_filter "$photo" "$work/out.png"
done
exit "$failed"

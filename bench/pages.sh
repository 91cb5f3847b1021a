#!/usr/bin/env bash
# The page of a run of 36 trials and of one of 5,000 in Chromium: bytes, height at 1280 px, charts drawn when it opens,
# places that the tab key stops at, time until it can be used, and pages when printed.
# Usage: bench/pages.sh [PAGE...]
# With pages it measures those; without, it makes the two runs with the assay of ASSAY, or one built from this tree.
set -euo pipefail
cd "$(dirname "$0")/.."
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
pages=("$@")
if [ $# = 0 ]; then
  assay="${ASSAY:-}"
  if [ -z "$assay" ]; then
    cargo build --release --locked --quiet --package assay
    assay="$(realpath "${CARGO_TARGET_DIR:-target}/release/assay")"
  fi
  few=(run --quiet --blocks 18 --vs "sleep 2.4" -- sleep 2.2)
  many=(run --quiet --blocks 2500 --vs "sleep 0.001" -- true)
  for run in few many; do
    declare -n arguments=$run
    "$assay" --archive "$folder/$run" "${arguments[@]}" > /dev/null 2>&1
    "$assay" --archive "$folder/$run" publish last -o "$folder/page-$run" > /dev/null 2>&1
    pages+=("$folder/page-$run/index.html")
  done
fi
exec python3 bench/pages.py "${pages[@]}"

#!/usr/bin/env bash
# Own time a trial of two builds of assay, interleaved: does a change cost the trials anything?
# And beside the least that lies between two programs (own-floor.c), where there is a C compiler.
# Usage: bench/own-time.sh BEFORE_BINARY [ROUNDS]
# AFTER names the other binary; without it, it is built from this tree.
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: bench/own-time.sh BEFORE_BINARY [ROUNDS]" >&2; exit 2; }
before="$(realpath "$1")"
after="${AFTER:+$(realpath "$AFTER")}"
cd "$(dirname "$0")/.."
[ -n "$after" ] || cargo build --release --locked --quiet --package assay
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
floor=""
if command -v cc > /dev/null; then
  floor="$folder/own-floor"
  cc -O2 -o "$floor" bench/own-floor.c
fi
python3 bench/own_time.py "$before" "${after:-${CARGO_TARGET_DIR:-target}/release/assay}" "${2:-12}" "$floor"

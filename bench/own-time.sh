#!/usr/bin/env bash
# Own time a trial of two builds of assay, interleaved: does a change cost the trials anything?
# Usage: bench/own-time.sh BEFORE_BINARY [ROUNDS]
# AFTER names the other binary; without it, it is built from this tree.
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: bench/own-time.sh BEFORE_BINARY [ROUNDS]" >&2; exit 2; }
before="$(realpath "$1")"
after="${AFTER:+$(realpath "$AFTER")}"
cd "$(dirname "$0")/.."
[ -n "$after" ] || cargo build --release --locked --quiet --package assay
exec python3 bench/own_time.py "$before" "${after:-${CARGO_TARGET_DIR:-target}/release/assay}" "${2:-12}"

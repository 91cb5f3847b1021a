#!/usr/bin/env bash
# Own time a trial of two builds of assay, interleaved: does a change cost the trials anything?
# Usage: bench/own-time.sh BEFORE_BINARY [ROUNDS]
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: bench/own-time.sh BEFORE_BINARY [ROUNDS]" >&2; exit 2; }
before="$(realpath "$1")"
cd "$(dirname "$0")/.."
cargo build --release --locked --quiet --package assay
exec python3 bench/own_time.py "$before" "${CARGO_TARGET_DIR:-target}/release/assay" "${2:-20}"

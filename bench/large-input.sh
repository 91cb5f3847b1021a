#!/usr/bin/env bash
# Time and memory for generated inputs of 10, 100, ... elements in each dimension: samples, lines, levels, words, rows.
# Usage: bench/large-input.sh [MOST [INPUT...]]      MOST defaults to 1e6; inputs are named in the first column
# ASSAY names the binary to measure; without it a release build is made. A command is ended after 60 s.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${ASSAY:-}" ]; then
  cargo build --release --locked --quiet --package assay
  ASSAY="${CARGO_TARGET_DIR:-target}/release/assay"
fi
most="${1:-1e6}"
[ $# -eq 0 ] || shift
exec python3 bench/large_input.py "$ASSAY" "$most" "$@"

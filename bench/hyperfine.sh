#!/usr/bin/env bash
# assay against hyperfine: own time per trial, the measured mean, and who tells the truth under drift.
# Usage: bench/hyperfine.sh [ROUNDS] [REPEATS_UNDER_DRIFT]
set -euo pipefail
cd "$(dirname "$0")/.."
command -v hyperfine >/dev/null || { echo "hyperfine is needed (Debian package hyperfine)" >&2; exit 2; }
cargo build --release --locked --quiet --package assay
exec python3 bench/hyperfine.py "${CARGO_TARGET_DIR:-target}/release/assay" "${1:-20}" "${2:-100}"

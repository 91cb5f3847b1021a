#!/usr/bin/env bash
# What watching 200 tasks once a second costs, in percent of one CPU, beside pidstat: pairs interleaved, the mean of each with its
# 95 % interval. Usage: bench/tasks.sh [ROUNDS [SECONDS]]; ASSAY names another binary.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${ASSAY:-}" ]; then
    cargo build --release --locked --quiet --package assay
    ASSAY="${CARGO_TARGET_DIR:-target}/release/assay"
fi
exec python3 bench/tasks.py "$(realpath "$ASSAY")" "${1:-10}" "${2:-10}"

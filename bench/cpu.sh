#!/usr/bin/env bash
# The suites of programs: what running a copy costs besides the program, how far apart copies begin, what a run costs
# whose builds are all there, and how repeatable the geometric mean is, with the A/A floor beside it.
# Usage: bench/cpu.sh [copies [BLOCKS] | rebuild | repeat [RUNS [SUITE]]]        (default: all; repeat takes 9 min)
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${ASSAY:-}" ]; then
    cargo build --release --locked --quiet --package assay
    ASSAY=${CARGO_TARGET_DIR:-target}/release/assay
fi
exec python3 bench/cpu.py "$ASSAY" "$@"

#!/usr/bin/env bash
# What profiling costs the program, beside perf record and bpftrace doing the same, and whether time on and off CPU
# add up to the time that passed. Peers that are not there are left out, and reported. Ends within 15 minutes of the build.
# Usage: bench/profile.sh [ROUNDS [SECONDS [MINUTES]]]; ASSAY names another binary, ONLY=WORD,... rows to measure.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${ASSAY:-}" ]; then
    cargo build --release --locked --quiet --package assay
    ASSAY="${CARGO_TARGET_DIR:-target}/release/assay"
fi
exec python3 bench/profile.py "$(realpath "$ASSAY")" "${1:-40}" "${2:-2}" "${3:-12}"

#!/usr/bin/env bash
# What counting system calls costs a program that makes them as fast as it can, beside strace and perf trace doing
# the same. Peers that are not there are left out, and reported. Usage: bench/syscalls.sh [ROUNDS [SECONDS]]; ASSAY names
# another binary, ONLY=WORD,... rows to measure.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${ASSAY:-}" ]; then
    cargo build --release --locked --quiet --package assay
    ASSAY="${CARGO_TARGET_DIR:-target}/release/assay"
fi
exec python3 bench/syscalls.py "$(realpath "$ASSAY")" "${1:-20}" "${2:-2}"

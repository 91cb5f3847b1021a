#!/usr/bin/env bash
# What profiling costs the program, beside perf record and bpftrace doing the same. Peers that are not there
# are left out, and said. Usage: bench/profile.sh [ROUNDS [SECONDS]]; ASSAY names another binary.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${ASSAY:-}" ]; then
    cargo build --release --locked --quiet --package assay
    ASSAY="${CARGO_TARGET_DIR:-target}/release/assay"
fi
exec python3 bench/profile.py "$(realpath "$ASSAY")" "${1:-20}" "${2:-4}"

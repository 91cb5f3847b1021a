#!/usr/bin/env bash
# What sampling at 99 Hz takes from programs that keep all CPUs busy, as these see it: the time during which they do not run; and what
# following 100,000 switches a second costs, in windows with and without it of one long load. Beside perf record and bpftrace doing the
# same; peers that are not there are left out, and reported.
# Usage: bench/profile-cost.sh [ROUNDS [SECONDS]]: 12 rounds with windows of 2 s, 13 minutes; ASSAY names another binary,
# ONLY=WORD,... loads (spin, handover) or profilers to measure.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${ASSAY:-}" ]; then
    cargo build --release --locked --quiet --package assay
    ASSAY="${CARGO_TARGET_DIR:-target}/release/assay"
fi
exec python3 bench/profile_cost.py "$(realpath "$ASSAY")" "${1:-12}" "${2:-2}"

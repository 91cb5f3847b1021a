#!/usr/bin/env bash
# False verdicts of identical commands beside a load that comes and goes, with and without a shell, interleaved.
# Usage: bench/aa.sh [RUNS] [OTHER_ASSAY]      a second binary of assay is run in the same rounds
# ASSAY names the binary to measure; without it a release build is made.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${ASSAY:-}" ]; then
  cargo build --release --locked --quiet --package assay
  ASSAY="${CARGO_TARGET_DIR:-target}/release/assay"
fi
exec python3 bench/aa.py "${1:-50}" "$ASSAY" ${2:+"$2"}

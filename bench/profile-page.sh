#!/usr/bin/env bash
# How long a profile of ten million samples takes to be read, written as a page, and opened in Chromium until its pictures can be
# searched. Usage: bench/profile-page.sh [SAMPLES [ROUNDS]]; ASSAY names another binary.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${ASSAY:-}" ]; then
    cargo build --release --locked --quiet --package assay
    ASSAY="${CARGO_TARGET_DIR:-target}/release/assay"
fi
exec python3 bench/profile_page.py "$(realpath "$ASSAY")" "${1:-10000000}" "${2:-7}"

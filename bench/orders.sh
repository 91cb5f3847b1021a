#!/usr/bin/env bash
# The workload orders: how repeatable its score is, beside a peer where there is one; what the harness costs; how far
# apart 16 virtual machines start and stop. Needs a JDK.
# Usage: bench/orders.sh [repeat [RUNS] | many [INSTANCES]]                      (default: both)
# `response` is orders-response.sh.
# PEER='java -jar renaissance.jar -r 5 scala-kmeans' makes a peer take turns with orders in `repeat`: one run of the
# command is one run of the peer, and the time of its last repetition (or of the whole) its score.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v javac >/dev/null || { echo "a JDK is needed (Debian package openjdk-17-jdk-headless)" >&2; exit 2; }
if [ -z "${ASSAY:-}" ]; then
    cargo build --release --locked --quiet --package assay
    ASSAY=${CARGO_TARGET_DIR:-target}/release/assay
fi
exec python3 bench/orders.py "$ASSAY" "$@"

#!/usr/bin/env bash
# CPU time of the client per operation of Redis: assay's load generator, which checks every answer, redis-benchmark and
# memtier_benchmark, which do not; and the rate that the search for the maximum finds beside that of a scan in ten steps.
# The floor is a client that sends one batch again and again and counts the bytes of the answers (redis-floor.c).
# Same server, connections, key and value sizes, in turn. Needs redis-server, redis-benchmark (redis-tools) and two CPUs.
# Usage: bench/redis.sh [peers [ROUNDS [SECONDS]] | search [ROUNDS]]      (default: both)
# ASSAY names the binary that searches, BOUND_MS the limit (2) of the QUANTILE (p99; p50 on a machine with other load).
set -euo pipefail
what=${1:-all}
[ "$what" = search ] || (cd "$(dirname "$0")/.." && cargo build --release --locked --quiet --package assay-loadgen --examples)
[ "$what" = peers ] && ASSAY=${ASSAY:-none}
. "$(dirname "$0")/prologue.sh"
python3 bench/redis.py "${CARGO_TARGET_DIR:-target}/release/examples" "$assay" "$@"

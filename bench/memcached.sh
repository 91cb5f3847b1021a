#!/usr/bin/env bash
# The memcached load generator against its floor and its peers, a stall that is injected, and 10,000
# connections. Needs memcached and two CPUs; peers that are not installed are reported as absent.
# Usage: bench/memcached.sh [peers [ROUNDS [SECONDS]] | stall [SECONDS] | many]      (default: all)
set -euo pipefail
cd "$(dirname "$0")/.."
command -v memcached >/dev/null || { echo "memcached is needed (Debian package memcached)" >&2; exit 2; }
cargo build --release --locked --quiet --package assay-loadgen --examples
exec python3 bench/memcached/bench.py "${CARGO_TARGET_DIR:-target}/release/examples" "$@"

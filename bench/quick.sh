#!/usr/bin/env bash
# Where assay stands against its goals, in under five minutes: ratios alone, both sides in one run and in turn.
# Usage: bench/quick.sh [ROUNDS]; ASSAY names a binary, KEEP a CSV to which each run adds a line, ONLY a word of the
# rows that are wanted.
# Peers that are not installed are reported as absent: hyperfine, blktrace, valgrind and memcached are Debian packages;
# DuckDB and Polars are looked for in $PYTHON (python3): `python3 -m venv V && V/bin/pip install duckdb polars`.
set -euo pipefail
rounds=${1:-5}
. "$(dirname "$0")/prologue.sh"
cargo build --release --locked --quiet -p assay-traces -p assay-loadgen --examples
keep=${KEEP:-${XDG_DATA_HOME:-$HOME/.local/share}/assay/bench-quick.csv}
mkdir -p "$(dirname "$keep")"
"${PYTHON:-python3}" bench/quick.py "$(realpath "$assay")" "${CARGO_TARGET_DIR:-target}/release/examples" "$folder" "$keep" "$rounds"
# The figures of earlier runs with it: a change is seen where there are enough of them.
"$assay" history import csv "$keep" --name bench-quick

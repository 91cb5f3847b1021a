#!/usr/bin/env bash
# Recorded block traces: assay's readers against blkparse + btt on blktrace's files, and against DuckDB and
# Polars on CSV as of MSR Cambridge and on Parquet. CPU time (user + system) of the whole process, in turn
# within a round, the order reversed every other round; ratios by round with their 95 % intervals.
#
#   bench/iotrace.sh [ROUNDS [EVENTS]]        (7 rounds of 4,000,000 events or rows: about 3 minutes)
#   bench/iotrace.sh scaling [ROUNDS [EVENTS]] (one thread against as many as there are CPUs: about a minute)
#   bench/iotrace.sh memory [GB]              (peak memory on traces of 10 GB, streamed: about 3 minutes)
#
# Goals: 20 million blktrace events and 10 million CSV rows in a CPU second, below 64 MB on 10 GB; on a
# hot spot every I/O is matched, and what btt leaves out is shown.
# Needs: blktrace, python3 (Debian packages); DuckDB and Polars where $PYTHON (python3) has them
# (`python3 -m venv V && V/bin/pip install duckdb polars`, then PYTHON=V/bin/python). What is missing is
# left out and reported.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --quiet --release -p assay-traces --examples
target=$(cargo metadata --format-version 1 --no-deps | python3 -c 'import json,sys; print(json.load(sys.stdin)["target_directory"])')
exec "${PYTHON:-python3}" bench/iotrace.py "$target/release/examples" "$@"

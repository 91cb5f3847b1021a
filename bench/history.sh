#!/usr/bin/env bash
# The change-point detector and the search for a commit on made-up series with known truth, beside Apache Otava
# (its default) on the very same series: 200 points; a sweep over lengths, sizes, places, shapes and noise (20 minutes;
# Otava has 100 series of some cells); ratios of real repositories. Usage: bench/history.sh [SERIES]
# Needs python3; Otava comes by pip into a folder of its own ($PEERS, kept when given).
set -euo pipefail
cd "$(dirname "$0")/.."
count="${1:-500}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
run() { cargo run --release --locked --quiet --package assay-stats --example "$@"; }
echo "== assay: $count series of 200 points each"
run score "$count" --series "$work/series.csv"
echo "== assay: time"
run analysis_speed
echo "== assay: $count series for each cell"
run sweep "$count" "$work/sweep.csv"
echo "== assay: search among 128 commits"
run bisect 200
peers="${PEERS:-$work/peers}"
if [ ! -x "$peers/bin/python" ]; then
  python3 -m venv "$peers"
fi
if ! "$peers/bin/python" -c 'import otava' 2>/dev/null && ! "$peers/bin/pip" install --quiet apache-otava==0.8.0; then
  echo "skipped: Otava cannot be installed here"
  exit 0
fi
echo "== Otava $("$peers/bin/pip" show apache-otava 2>/dev/null | sed -n 's/^Version: //p'), its default, the same series"
real=(crates/stats/tests/data/{fmt,goawk}.csv)
"$peers/bin/python" bench/history.py "$work/series.csv" "${real[@]}"
"$peers/bin/python" bench/history.py "$work/sweep.csv"

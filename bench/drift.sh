#!/usr/bin/env bash
# A history of one unchanged program beside a load that comes and goes: how much ratios and raw values vary, and alarms.
# Usage: bench/drift.sh [POINTS] [PAUSE_S]      PAUSE_S between points spreads them over time
# ASSAY names the binary; without it a release build is made.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${ASSAY:-}" ]; then
  cargo build --release --locked --quiet --package assay
  ASSAY="$PWD/${CARGO_TARGET_DIR:-target}/release/assay"
fi
points="${1:-60}" pause="${2:-0}"
work="$(mktemp -d)"
export ASSAY_ARCHIVE="$work/archive" ASSAY_CACHE="$work/cache" ASSAY_STATE="$work/state"
mkdir "$work/repo"
cd "$work/repo"
commit() { git add -A; git -c user.name=bench -c user.email=bench@example.org commit --quiet --allow-empty -m "$1"; }
git init --quiet -b main
echo 'int main(void) { volatile unsigned long s = 0; for (unsigned long i = 0; i < 60000000UL; i++) s += i; return 0; }' > prog.c
printf 'prog: prog.c\n\tcc -O1 -o prog prog.c\n' > Makefile
commit 0; git tag start
for i in $(seq "$points"); do commit "$i"; done
load() { while :; do timeout "$((RANDOM % 20 + 1))" sh -c 'while :; do :; done' || true; sleep "$((RANDOM % 20 + 1))"; done; }
load & loader=$!
trap 'kill $loader; rm -rf "$work"' EXIT
history() { "$ASSAY" history --json --quiet --rev start..main --build make --monitors none --blocks 5 "$@" -- ./prog; }
for _ in $(seq "$(((points + 2) / 3))"); do
  history --fill --points 3 > history.json || true
  sleep "$pause"
done
history > history.json
python3 - history.json <<'P'
import json, statistics, sys
series = json.load(open(sys.argv[1]))["series"][0]
points = [p for p in series["points"] if p["place"] > 0]
spread = lambda v: 100 * statistics.stdev(v) / statistics.mean(v)
neighbours = lambda v: statistics.correlation(v[1:], v[:-1])
raw, ratio = [p["value"] for p in points], [p["ratio"] for p in points]
print(f"{len(points)} points: raw values vary by {spread(raw):.1f} %, ratios by {spread(ratio):.1f} %,"
      f" {len(series['changes'])} changes suspected")
P

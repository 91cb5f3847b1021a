#!/usr/bin/env bash
# A history of one unchanged program beside a load that comes and goes: how much ratios and raw values vary, and alarms.
# A commit is made and measured beside the first one, then there is a pause, as a machine for nightly runs would do.
# Usage: bench/drift.sh [POINTS] [PAUSE_S]      60 and 55: about an hour
#   ASSAY names the binary; without it a release build is made.
#   BLOCKS=5             of each point
#   LOADS="20 240"       processes that compute, and rest, for up to so many seconds in turn; "": none
#   KEEP=DIR             keep the repository and the archive there
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${ASSAY:-}" ]; then
  cargo build --release --locked --quiet --package assay
  ASSAY="$PWD/${CARGO_TARGET_DIR:-target}/release/assay"
fi
points="${1:-60}" pause="${2:-0}"
work="${KEEP:-$(mktemp -d)}"
export ASSAY_ARCHIVE="$work/archive" ASSAY_CACHE="$work/cache" ASSAY_STATE="$work/state"
mkdir -p "$work/repo"
cd "$work/repo"
commit() { git add -A; git -c user.name=bench -c user.email=bench@example.org commit --quiet --allow-empty -m "$1"; }
git init --quiet -b main
echo 'int main(void) { volatile unsigned long s = 0; for (unsigned long i = 0; i < 60000000UL; i++) s += i; return 0; }' > prog.c
printf 'prog: prog.c\n\tcc -O1 -o prog prog.c\n' > Makefile
commit 0; git tag start
load() { # for up to $1 seconds each: compute, rest
  busy=""
  trap '[ -z "$busy" ] || kill "$busy"; exit' TERM
  while :; do
    timeout "$((RANDOM % $1 + 1))" sh -c 'while :; do :; done' & busy=$!
    wait "$busy" || true
    busy=""
    sleep "$((RANDOM % $1 + 1))"
  done
}
loaders=""
trap '[ -z "$loaders" ] || kill $loaders; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
for longest in ${LOADS-20 240}; do load "$longest" & loaders="$loaders $!"; done
history() { "$ASSAY" history --json --quiet --rev start..main --build make --monitors none --blocks "${BLOCKS:-5}" "$@" -- ./prog; }
for i in $(seq "$points"); do
  commit "$i"
  history --fill --points 1 > history.json || true
  cut -d' ' -f1 /proc/loadavg >> loads
  [ "$i" = "$points" ] || sleep "$pause"
done
code=0
history --confirm > history.json || code=$?
python3 - history.json loads "$code" <<'P'
import json, statistics, sys
answer = json.load(open(sys.argv[1]))
loads = [float(line) for line in open(sys.argv[2])]
print(f"load average at the points: {min(loads)} to {max(loads)}, {statistics.mean(loads):.1f} on average")
for series in answer["series"]:
    points = [p for p in series["points"] if p["place"] > 0]
    spread = lambda v: 100 * statistics.stdev(v) / statistics.mean(v)
    raw, ratio = [p["value"] for p in points], [p["ratio"] for p in points]
    print(f"{len(points)} points: raw values vary by {spread(raw):.1f} %, ratios by {spread(ratio):.1f} %"
          f" ({spread(ratio) / spread(raw):.2f} of that); changes suspected: {len(series['changes'])}")
print(f"exit code {sys.argv[3]} (5: an alarm)")
P

#!/usr/bin/env bash
# A site of many runs: the first build, one that finds nothing new, and one that finds one run more.
# Usage: bench/site.sh [RUNS [REPEATS]]; ASSAY names a binary, ARCHIVE an archive to keep and use again.
set -euo pipefail
runs=${1:-1000} repeats=${2:-5}
. "$(dirname "$0")/prologue.sh"
export ASSAY_ARCHIVE=${ARCHIVE:-$folder/archive}
one() { "$assay" run --quiet --blocks 3 --tag bench --vs 'sleep 0.001' -- true > /dev/null 2>&1 || [ $? -eq 4 ]; }
have=$(find "$ASSAY_ARCHIVE/runs" -mindepth 1 -maxdepth 1 2> /dev/null | wc -l || true)
for ((i = have; i < runs; i++)); do one; done
build() {
  local start end
  start=$(date +%s.%N)
  "$assay" site --posts posts -o "$folder/site" > "$folder/out" 2> "$folder/complaints" || { cat "$folder/complaints" >&2; exit 1; }
  end=$(date +%s.%N)
  printf '%-22s %7.2f s   %s\n' "$1" "$(echo "$end - $start" | bc)" "$(tail -1 "$folder/out")"
}
build "first build"
du -sh --apparent-size "$folder/site" | sed "s|$folder/||"
for ((i = 0; i < repeats; i++)); do build "nothing new"; done
for ((i = 0; i < repeats; i++)); do
  one
  build "one run more"
done

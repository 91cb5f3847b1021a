#!/usr/bin/env bash
# Kills assay at random moments of a run, KILLS times (40), and counts the programs that live on half a second later.
# Usage: bench/kills.sh [KILLS]; ASSAY names a binary.
set -euo pipefail
kills=${1:-40}
. "$(dirname "$0")/prologue.sh"
export ASSAY_ARCHIVE=$folder/archive
mark=986.$$
script="sleep $mark & (setsid sleep $mark &) ; env -i sleep $mark & sleep $mark | cat"
left=0
for _ in $(seq "$kills"); do
  "$assay" run --blocks 3 --monitors none --timeout 300ms -- sh -c "$script" >/dev/null 2>&1 &
  sleep "0.$(shuf -i 0-999 -n 1 | xargs printf %03d)"
  kill -9 $! 2>/dev/null || true
  wait $! 2>/dev/null || true
  sleep 0.5
  left=$((left + $(pgrep -cf "sleep $mark" || true)))
  pkill -9 -f "sleep $mark" || true
done
echo "$kills kills, $left programs left"

#!/usr/bin/env bash
# Real searches for a commit: a repository of 128 commits, of which one makes a program slower; each search is
# `assay bisect` from the first to the last. Needs a quiet machine: a step of 3 % is small.
# Usage: bench/bisect.sh [SEARCHES]      ASSAY names the binary; without it a release build is made.
#   COMMITS=128  PERCENT=3  MS=50        how many commits, the step, how long the program computes, about
#   MARGIN="2 %" BUDGET="1 h"            of each search
#   METRIC=elapsed                       or user, which a loaded machine disturbs less
#   PEER=yes                             also `git bisect run` with ten runs a step, on the same repository and metric
# With PERCENT=0 there is no step, and the right answer is none of them.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${ASSAY:-}" ]; then
  cargo build --release --locked --quiet --package assay
  ASSAY="$PWD/${CARGO_TARGET_DIR:-target}/release/assay"
fi
searches="${1:-5}" commits="${COMMITS:-128}" percent="${PERCENT:-3}" ms="${MS:-50}"
metric="${METRIC:-elapsed}"
work="$(mktemp -d)"
# What a person would let `git bisect run` call: ten runs of this commit, and whether their mean lies beyond the middle of
# the means of the two ends. "ends" measures these; the exit code says good (0) or bad (1).
cat > "$work/step.py" <<'P'
import os, resource, statistics, subprocess, sys, time
here, metric, what = sys.argv[1:]
def once():
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, time.perf_counter()
    subprocess.run(["./run"], check=True)
    wall, user = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return user if metric == "user" else wall
subprocess.run(["make", "--silent"], check=True)
mean = statistics.mean(once() for _ in range(10))
with open(f"{here}/peer.trials", "a") as trials: print("x" * 10, file=trials)
if what == "end":
    with open(f"{here}/peer.ends", "a") as ends: print(mean, file=ends)
    sys.exit(0)
sys.exit(mean > statistics.mean(float(end) for end in open(f"{here}/peer.ends")))
P
trap 'rm -rf "$work"' EXIT
right=0 wrong=0 open=0 trials=0 peer_right=0 peer_trials=0
for search in $(seq "$searches"); do
  here="$work/$search"
  mkdir -p "$here/repo"
  export ASSAY_ARCHIVE="$here/archive" ASSAY_CACHE="$here/cache" ASSAY_STATE="$here/state"
  step=$((RANDOM % (commits - 2) + 2))
  (
    cd "$here/repo"
    git init --quiet -b main
    # The same program in every commit but for how often it turns: other layouts of code are other steps.
    cat > prog.c <<'C'
#include <stdlib.h>
int main(int n, char **a) { volatile unsigned long s = 0, to = strtoul(a[1], 0, 10); for (unsigned long i = 0; i < to; i++) s += i; return n > 9; }
C
    printf 'prog: prog.c\n\tcc -O1 -o prog prog.c\n' > Makefile
    for n in $(seq "$commits"); do
      turns=$((1000000 * ms))
      if [ "$n" -ge "$step" ]; then turns=$((turns + turns * percent / 100)); fi
      printf '#!/bin/sh\nexec ./prog %s\n' "$turns" > run
      chmod +x run
      echo "$n" > n
      git add -A
      git -c user.name=bench -c user.email=bench@example.org commit --quiet -m "change $n"
    done
  )
  start=$SECONDS
  (cd "$here/repo" && "$ASSAY" bisect --json --quiet --good "$(git rev-list --max-parents=0 main)" --bad main \
    --build make --monitors none --metric "$metric" --margin "${MARGIN:-2 %}" --budget "${BUDGET:-1 h}" -- ./run) > "$here/answer" 2> "$here/stderr" || true
  answer="$(sed -n 's/^  "answer": "\(.*\)",$/\1/p' "$here/answer")"
  found="$(sed -n 's/.*"subject": "\(change [0-9]*\)".*/\1/p' "$here/answer" | head -n 1)"
  count="$(sed -n 's/^  "trials": \([0-9]*\),$/\1/p' "$here/answer")"
  trials=$((trials + ${count:-0}))
  wanted="change $step"
  if [ "$percent" = 0 ]; then wanted=none; found="$answer"; fi
  if [ "$answer" = open ] || [ -z "$answer" ]; then
    open=$((open + 1)); tail -n 2 "$here/stderr"
  elif [ "$found" = "$wanted" ]; then
    right=$((right + 1))
  else
    wrong=$((wrong + 1))
  fi
  echo "search $search: the step is $wanted, answer ${answer:-none}${found:+ ($found)}, $count trials, $((SECONDS - start)) s, load $(cut -d' ' -f1 /proc/loadavg)"
  if [ "${PEER:-yes}" = yes ] && [ "$percent" != 0 ]; then
    first="$(git -C "$here/repo" rev-list --max-parents=0 main)"
    (
      cd "$here/repo"
      for end in "$first" main; do git checkout --quiet "$end"; python3 "$work/step.py" "$here" "$metric" end; done
      git bisect start main "$first"
      git bisect run python3 "$work/step.py" "$here" "$metric" step
    ) > "$here/peer" 2>&1 || true
    peer="$(git -C "$here/repo" log -1 --format=%s refs/bisect/bad 2>> "$here/peer")" || { peer=nothing; tail -n 3 "$here/peer"; }
    count="$(tr -d '\n' < "$here/peer.trials" | wc -c)"
    peer_trials=$((peer_trials + count))
    if [ "$peer" = "$wanted" ]; then peer_right=$((peer_right + 1)); fi
    echo "  git bisect run: $peer, $count trials"
  fi
  rm -rf "$here"
done
echo "$commits commits, a step of $percent %: right $right, wrong $wrong, open $open of $searches; $((trials / searches)) trials a search"
if [ "${PEER:-yes}" = yes ] && [ "$percent" != 0 ]; then
  echo "git bisect run, ten runs a step: right $peer_right of $searches; $((peer_trials / searches)) trials a search"
fi

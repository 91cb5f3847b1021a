#!/usr/bin/env bash
# Searches for all steps, `assay bisect --all`: simulated repositories of 60 commits with two steps of opposite sign on
# a loaded machine, and three real ones, in C, awk and shell. A search may end open, at its budget; it must not be wrong.
# Usage: bench/bisect-all.sh [SIMULATED]      ASSAY names the program; without it a release build is made.
#   BUDGET="5 min"  of each real search       METRIC=user
#   NOISE=yes       a busy loop on every CPU beside the real searches
set -euo pipefail
cd "$(dirname "$0")/.."
simulated="${1:-20}"
REPOSITORIES="$simulated" cargo test --release --locked --quiet -p assay-stats --test series -- \
  --ignored --nocapture how_often_steps_of_opposite_sign 2>&1 | grep -E '^(repository|two steps)'
if [ -z "${ASSAY:-}" ]; then
  cargo build --release --locked --quiet --package assay
  ASSAY="$PWD/${CARGO_TARGET_DIR:-target}/release/assay"
fi
work="$(mktemp -d)"
load=()
trap '[ ${#load[@]} = 0 ] || kill "${load[@]}"; rm -rf "$work"' EXIT
if [ "${NOISE:-no}" = yes ]; then
  for _ in $(seq "$(nproc)"); do
    while :; do :; done &
    load+=($!)
  done
fi

# Commits the folder as change $1.
commit() {
  echo "$1" > n
  git add -A
  git -c user.name=bench -c user.email=bench@example.org commit --quiet -m "change $1"
}
# Writes the program in the language $1; its work is $2.
program() {
  case "$1" in
    c)
      printf '#include <stdio.h>\nint main(void) { volatile unsigned long s = 0; for (unsigned long i = 0; i < %s00000UL; i++) s += i; printf("%%lu\\n", s); return 0; }\n' "$2" > prog.c
      printf 'run: prog.c\n\tcc -O1 -o run prog.c\n' > Makefile ;;
    awk)
      printf '#!/usr/bin/awk -f\nBEGIN { for (i = 0; i < %s000; i++) s = s + i %% 7; print s }\n' "$2" > run.in
      printf 'run: run.in\n\tcp run.in run && chmod +x run\n' > Makefile ;;
    shell)
      printf '#!/bin/sh\ni=0; while [ $i -lt %s00 ]; do i=$((i + 1)); done\n' "$2" > run.in
      printf 'run: run.in\n\tcp run.in run && chmod +x run\n' > Makefile ;;
  esac
}

# language, the commits of the steps, the work before, between and after them
searches=("c 14 41 500 800 500" "awk 20 47 800 560 800" "shell 9 30 800 1200 700")
named=0 open=0 wrong=0
for search in "${searches[@]}"; do
  read -r language first second before between after <<< "$search"
  here="$work/$language"
  mkdir -p "$here/repo"
  export ASSAY_ARCHIVE="$here/archive" ASSAY_CACHE="$here/cache" ASSAY_STATE="$here/state"
  (
    cd "$here/repo"
    git init --quiet -b main
    for n in $(seq 60); do
      size="$before"
      if [ "$n" -ge "$second" ]; then size="$after"; elif [ "$n" -ge "$first" ]; then size="$between"; fi
      program "$language" "$size"
      commit "$n"
    done
  )
  start=$SECONDS
  (cd "$here/repo" && "$ASSAY" bisect --all --json --quiet --good "$(git rev-list --max-parents=0 main)" --bad main \
    --build make --monitors none --metric "${METRIC:-user}" --margin '10 %' --profile never --budget "${BUDGET:-5 min}" \
    -- ./run) > "$here/answer" 2> "$here/stderr" || tail -n 2 "$here/stderr"
  read -r answer found trials ratios < <(python3 - "$here/answer" <<'P'
import json, sys
r = json.load(open(sys.argv[1]))
found = ",".join("/".join(c["subject"].split()[1] for c in s["commits"]) for s in r["steps"])
ratios = " ".join(f'{s["size"]["ratio"]:.3f}' for s in r["steps"] if s["size"])
print(r["answer"], found or "-", r["trials"], ratios)
P
  )
  case "$answer $found" in
    "commits $first,$second") named=$((named + 1)) ;;
    open*) open=$((open + 1)) ;;
    *) wrong=$((wrong + 1)) ;;
  esac
  echo "$language: steps at $first and $second of $before, $between and $after; $answer $found, ratios $ratios, $trials trials, $((SECONDS - start)) s, load $(cut -d' ' -f1 /proc/loadavg)"
done
echo "real: both named $named, open $open, wrong $wrong of ${#searches[@]}"

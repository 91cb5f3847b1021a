#!/usr/bin/env bash
# Gates of a revision with itself, and of one that is 5 % slower, beside a load that comes and goes.
# Usage: bench/gate.sh [GATES]      ASSAY names the binary; without it a release build is made.
#   HEADS="same slower"   which revisions are judged
#   MS=100                how long the program computes, about
#   BUDGET="5 min"        of each gate
#   METRIC=elapsed        or user, which a loaded machine disturbs less
#   LOAD=yes              no: the machine's own load is load enough
# Each gate is a line; a run that is cut short has counted those before it.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${ASSAY:-}" ]; then
  cargo build --release --locked --quiet --package assay
  ASSAY="$PWD/${CARGO_TARGET_DIR:-target}/release/assay"
fi
gates="${1:-200}" ms="${MS:-100}" budget="${BUDGET:-5 min}"
work="$(mktemp -d)"
export ASSAY_ARCHIVE="$work/archive" ASSAY_CACHE="$work/cache" ASSAY_STATE="$work/state"
mkdir "$work/repo"
cd "$work/repo"
commit() { git add -A; git -c user.name=bench -c user.email=bench@example.org commit --quiet --allow-empty -m "$1"; }
program() { printf 'prog: prog.c\n\tcc -O1 -DLOOPS=%s -o prog prog.c\n' "$1" > Makefile; }
git init --quiet -b main
cat > prog.c <<'C'
int main(void) { volatile unsigned long s = 0; for (unsigned long i = 0; i < 25000UL * LOOPS; i++) s += i; return 0; }
C
program $((40 * ms))
commit base; git tag base
echo other > README; commit same; git tag same
program $((42 * ms))
commit slower; git tag slower
load() { while :; do timeout "0.$((RANDOM % 9 + 1))" sh -c 'while :; do :; done' || true; sleep "0.$((RANDOM % 9 + 1))"; done; }
loader=""
if [ "${LOAD:-yes}" = yes ]; then load & loader=$!; fi
trap '[ -z "$loader" ] || kill $loader; rm -rf "$work"' EXIT
for head in ${HEADS:-same slower}; do
  red=0 green=0 open=0 other=0 longest=0
  for n in $(seq "$gates"); do
    code=0
    start=$SECONDS
    "$ASSAY" gate --json --quiet --base base --head "$head" --build make --monitors none --metric "${METRIC:-elapsed}" --budget "$budget" -- ./prog > "$work/answer" 2> "$work/stderr" || code=$?
    took=$((SECONDS - start))
    if [ $took -gt $longest ]; then longest=$took; fi
    verdict="$(sed -n 's/^  "verdict": "\(.*\)",$/\1/p' "$work/answer")"
    case "$verdict" in
      worse) red=$((red + 1)) ;;
      better | equivalent) green=$((green + 1)) ;;
      inconclusive) open=$((open + 1)) ;;
      *) other=$((other + 1)); tail -n 2 "$work/stderr" ;;
    esac
    echo "$head $n: ${verdict:-no verdict}, exit code $code, $took s, load $(cut -d' ' -f1 /proc/loadavg)"
  done
  echo "$head: worse $red, within the margin or better $green, inconclusive $open, other $other of $gates; the longest took $longest s"
done

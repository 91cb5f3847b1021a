#!/usr/bin/env bash
# Gates of a Go suite of 30 benchmarks: a revision with itself, and one in which one benchmark is 5 % slower.
# Usage: bench/suite-gate.sh [EQUAL] [SLOWER]     ASSAY names the binary; without it a release build is made. Needs Go.
#   BUDGET="5 min"     of each gate
#   BENCHTIME=20ms     of each benchmark in each process
# Each gate is a line. A slower revision counts as found if its benchmark alone is named.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v go > /dev/null || { echo "go is needed" >&2; exit 2; }
if [ -z "${ASSAY:-}" ]; then
  cargo build --release --locked --quiet --package assay
  ASSAY="$PWD/${CARGO_TARGET_DIR:-target}/release/assay"
fi
equal="${1:-100}" slower="${2:-20}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export ASSAY_ARCHIVE="$work/archive" ASSAY_CACHE="$work/cache" ASSAY_STATE="$work/state"
mkdir "$work/repo"
cd "$work/repo"
commit() { git add -A; git -c user.name=bench -c user.email=bench@example.org commit --quiet --allow-empty -m "$1"; git tag "$1"; }
# Benchmark 17 does $1 percent of its work.
suite() {
  cat > suite_test.go <<'GO'
package suite

import "testing"

var sink uint64

func work(n int) {
	x := uint64(88172645463325252)
	for i := 0; i < n; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	sink += x
}
GO
  for n in $(seq 1 30); do
    size=$((2000 + 370 * n))
    if [ "$n" = 17 ]; then size=$((size * $1 / 100)); fi
    printf '\nfunc BenchmarkB%02d(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\twork(%s)\n\t}\n}\n' "$n" "$size" >> suite_test.go
  done
}
git init --quiet -b main
printf 'module example.org/suite\n\ngo 1.20\n' > go.mod
suite 100; commit base
echo other > README; commit same
suite 105; commit slower
for head in same slower; do
  if [ $head = same ]; then gates=$equal; else gates=$slower; fi
  red=0 named=0 longest=0
  for n in $(seq "$gates"); do
    code=0 start=$SECONDS
    "$ASSAY" gate --json --quiet --base base --head $head --build 'go test -c -o suite.test' --monitors none \
      --budget "${BUDGET:-5 min}" --reader go-bench -- ./suite.test -test.bench . -test.benchtime "${BENCHTIME:-20ms}" \
      > "$work/answer" 2> "$work/stderr" || code=$?
    took=$((SECONDS - start))
    if [ $took -gt $longest ]; then longest=$took; fi
    worse="$(python3 -c 'import json, sys
try: print(",".join(c["metric"] for c in json.load(sys.stdin)["benchmarks"] if c["verdict"] == "worse"))
except ValueError: print("no answer")' < "$work/answer")"
    if [ $code = 5 ]; then red=$((red + 1)); fi
    case "$worse" in BenchmarkB17 | BenchmarkB17-*) [ $code != 5 ] || named=$((named + 1)) ;; esac
    echo "$head $n: exit code $code, worse: ${worse:-none}, $took s, load $(cut -d' ' -f1 /proc/loadavg)"
    [ $code = 0 ] || [ $code = 5 ] || tail -n 2 "$work/stderr"
  done
  echo "$head: red $red, the slower benchmark alone named $named of $gates; the longest took $longest s"
done

#!/usr/bin/env bash
# Gates of a suite of 30 benchmarks: a revision with itself, and one in which one benchmark is 5 % slower.
# Usage: bench/suite-gate.sh [EQUAL] [SLOWER]     ASSAY names the binary; without it a release build is made.
#   TOOL=go            or criterion, which is fetched; needs Go, or cargo
#   BUDGET="5 min"     of each gate
#   BENCHTIME=20ms     of each benchmark of Go in each process; criterion takes 10 samples in 50 ms
# Each gate is a line. A slower revision counts as found if its benchmark alone is named.
set -euo pipefail
cd "$(dirname "$0")/.."
tool="${TOOL:-go}"
case "$tool" in
  go) needed=go bench=BenchmarkB17 ;;
  criterion) needed=cargo bench=B17 ;;
  *) echo "TOOL is go or criterion" >&2; exit 2 ;;
esac
command -v $needed > /dev/null || { echo "$needed is needed" >&2; exit 2; }
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
# Rounds of work of benchmark $1; benchmark 17 does $2 percent of its work.
size() { if [ "$1" = 17 ]; then echo $(((2000 + 370 * $1) * $2 / 100)); else echo $((2000 + 370 * $1)); fi; }
go_suite() {
  printf 'module example.org/suite\n\ngo 1.20\n' > go.mod
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
    printf '\nfunc BenchmarkB%02d(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\twork(%s)\n\t}\n}\n' \
      "$n" "$(size "$n" "$1")" >> suite_test.go
  done
}
criterion_suite() {
  printf '[package]\nname = "suite"\nversion = "0.1.0"\nedition = "2021"\n\n[dev-dependencies]\n%s\n\n%s\n' \
    'criterion = { version = "=0.5.1", default-features = false }' \
    $'[[bench]]\nname = "suite"\nharness = false' > Cargo.toml
  mkdir -p src benches
  echo 'pub fn work(n: u64) -> u64 { (0..n).fold(88172645463325252, |x: u64, _| { let x = x ^ x << 13; let x = x ^ x >> 7; x ^ x << 17 }) }' > src/lib.rs
  {
    echo 'use criterion::*; fn suite(c: &mut Criterion) {'
    for n in $(seq 1 30); do
      printf 'c.bench_function("B%02d", |b| b.iter(|| ::suite::work(black_box(%s))));\n' "$n" "$(size "$n" "$1")"
    done
    echo '} criterion_group!(all, suite); criterion_main!(all);'
  } > benches/suite.rs
}
suite() { "${tool}_suite" "$1"; }
if [ $tool = go ]; then
  build='go test -c -o suite.test'
  command=(--reader go-bench -- ./suite.test -test.bench . -test.benchtime "${BENCHTIME:-20ms}")
else
  build='cargo build --release --quiet --bench suite --target-dir built && cp $(find built/release/deps -name "suite-*" -executable -type f) suite.bench'
  command=(--reader criterion -- ./suite.bench --bench --noplot --discard-baseline --warm-up-time 0.01
    --measurement-time 0.05 --sample-size 10)
fi
git init --quiet -b main
suite 100; commit base
echo other > README; commit same
suite 105; commit slower
for head in same slower; do
  if [ $head = same ]; then gates=$equal; else gates=$slower; fi
  red=0 named=0 longest=0
  for n in $(seq "$gates"); do
    code=0 start=$SECONDS
    "$ASSAY" gate --json --quiet --base base --head $head --build "$build" --monitors none \
      --budget "${BUDGET:-5 min}" "${command[@]}" > "$work/answer" 2> "$work/stderr" || code=$?
    took=$((SECONDS - start))
    if [ $took -gt $longest ]; then longest=$took; fi
    worse="$(python3 -c 'import json, sys
try: print(",".join(c["metric"] for c in json.load(sys.stdin)["benchmarks"] if c["verdict"] == "worse"))
except ValueError: print("no answer")' < "$work/answer")"
    if [ $code = 5 ]; then red=$((red + 1)); fi
    case "$worse" in $bench | $bench-*) [ $code != 5 ] || named=$((named + 1)) ;; esac
    echo "$head $n: exit code $code, worse: ${worse:-none}, $took s, load $(cut -d' ' -f1 /proc/loadavg)"
    [ $code = 0 ] || [ $code = 5 ] || tail -n 2 "$work/stderr"
  done
  echo "$tool, $head: red $red, the slower benchmark alone named $named of $gates; the longest took $longest s"
done

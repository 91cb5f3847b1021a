#!/usr/bin/env bash
# assay's own history: its own time, reading a trace, publishing, over its commits, each built and measured beside the
# oldest one. A build takes minutes, so take few commits: every n-th, as `a..b:n`.
# Usage: bench/own-history.sh RANGE [DIR]     for example: bench/own-history.sh 'main~40..main:5' history
#   ASSAY names the binary that measures; without it a release build is made. BUDGET="4 h" of each of the three.
#   METRIC=user judges by CPU time, BLOCKS=6 of each point, TIMES="run trace publish" which of the three.
#   CHEAP=yes builds without optional features at the first level of optimisation; all revisions share the dependencies.
# The archive is kept ($ASSAY_ARCHIVE, else the usual one): the same command goes on where it stopped.
set -euo pipefail
range="${1:?usage: bench/own-history.sh RANGE [DIR]}"
out="$(realpath -m "${2:-history}")"
cd "$(dirname "$0")/.."
if [ -z "${ASSAY:-}" ]; then
  cargo build --release --locked --quiet --package assay
  ASSAY="$PWD/${CARGO_TARGET_DIR:-target}/release/assay"
fi
work=/var/tmp/assay-own-history
mkdir -p "$work"
if [ ! -s "$work/trace.csv" ]; then
  # As the traces of MSR Cambridge are: time and response time in 100 ns, host, disk, direction, offset, bytes.
  awk 'BEGIN { for (i = 0; i < 200000; i++) printf "%.0f,host,0,%s,%.0f,%d,%d\n", 128166372000000000 + i * 1000, i % 3 ? "Write" : "Read", (i * 104729 % 1000000) * 4096, 4096 * (1 + i % 4), 400 + (i * 7919) % 900 }' > "$work/trace.csv"
fi
build=()
if [ "${CHEAP:-no}" = yes ]; then
  build=(--build "cargo build --locked --quiet --package assay --no-default-features --target-dir $work/target --config profile.dev.opt-level=1 --config profile.dev.debug=false && install -D $work/target/debug/assay target/release/assay")
fi
for name in ${TIMES:-run trace publish}; do
  code=0
  "$ASSAY" history "bench/own-history/$name.toml" --rev "$range" --fill --confirm --blocks "${BLOCKS:-6}" \
    --budget "${BUDGET:-4 h}" "${build[@]}" ${METRIC:+--metric "$METRIC"} || code=$?
  # 5: a change for the worse is confirmed, which is a result.
  [ "$code" = 0 ] || [ "$code" = 5 ] || exit "$code"
done
"$ASSAY" publish --history -o "$out" --force

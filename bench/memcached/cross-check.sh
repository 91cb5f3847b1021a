#!/usr/bin/env bash
# assay's memcached load generator against memtier_benchmark, as two treatments of one run: the same server, the same
# classes of objects, interleaved blocks, a ratio with its interval. Needs memcached, two CPUs, and a
# memtier_benchmark (no Debian 12 package; build it from https://github.com/RedisLabs/memtier_benchmark).
# Usage: bench/memcached/cross-check.sh MEMTIER_BENCHMARK [BLOCKS [SECONDS [MORE_SETTINGS...]]]
#        ASSAY=PROGRAM takes that assay instead of building one.
set -euo pipefail
memtier=$(readlink -f "${1:?the path of memtier_benchmark}") blocks=${2:-6} seconds=${3:-4}
shift $(($# < 3 ? $# : 3))
cd "$(dirname "$0")/../.."
if [[ -z ${ASSAY:-} ]]; then
  cargo build --release --locked --quiet --package assay
  ASSAY=${CARGO_TARGET_DIR:-target}/release/assay
fi
"$memtier" --version | head -1
cpus=($(taskset -pc $$ | sed 's/.*: //; s/,/ /g' | awk '{for (i = 1; i <= NF; i++) {n = split($i, a, "-"); for (j = a[1]; j <= a[n]; j++) print j}}'))
more=()
for setting in "$@"; do more+=(--set "$setting"); done
# One thread of the server on one CPU, one of the generator on the other: the server is the limit, or both are
# near theirs (F22 then warns); without a CPU of its own the generator would be, and F22 would void it.
exec "$ASSAY" run memcached --blocks "$blocks" \
  --set driver=assay,memtier --set "driver.path=$memtier" \
  --set server.threads=1 --set "server.cpus=${cpus[0]}" \
  --set client.threads=1 --set "client.cpus=${cpus[-1]}" --set connections=64 \
  --set "steady=$seconds s" --set "ramp_up=1 s" "${more[@]}"

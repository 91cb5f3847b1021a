#!/usr/bin/env bash
# The workload pointer-chase against lmbench's lat_mem_rd at the same points: stride, order and working sets the same,
# one round of each in turn, the least of the repeats of a round on both sides, and no transparent huge pages for either:
# which of the two would get some depends on where its memory begins.
# Needs a checkout of lmbench (github.com/intel/lmbench), gcc, libtirpc-dev and python3.
# Usage: bench/pointer-chase.sh LMBENCH [ROUNDS]      ASSAY=PROGRAM takes that assay instead of building one.
set -euo pipefail
lmbench=$(cd "${1:?the folder of an lmbench checkout}" && pwd)
rounds="${2:-6}"
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "${ASSAY:-}" ]; then
    cargo build --release --locked --quiet --package assay
    ASSAY=${CARGO_TARGET_DIR:-target}/release/assay
fi
# The benchmark's own sources, unmodified, without its suite of scripts.
(cd "$lmbench/src" && gcc -O -w -I/usr/include/tirpc -D_GNU_SOURCE -DHAVE_uint=1 -DHAVE_int64_t=1 -DHAVE_uint64_t=1 \
    -DHAVE_socklen_t -DHAVE_off64_t -o "$work/lat_mem_rd" lat_mem_rd.c lib_mem.c lib_timing.c lib_stats.c \
    lib_debug.c getopt.c lib_sched.c -lm)
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
# lat_mem_rd visits every size up to its limit; these are the ones that both visit.
sets="16384,262144,1048576,4194304,8388608"
small_pages() {
    python3 -c 'import ctypes, os, sys
if ctypes.CDLL(None).prctl(41, 1, 0, 0, 0) != 0: sys.exit("PR_SET_THP_DISABLE failed")
os.execvp(sys.argv[1], sys.argv[1:])' "$@"
}
task() { # ORDER STRIDE
    printf '{"params":{"working_set":"%s","min_size":"4 KiB","max_size":"64 MiB","per_octave":4,"stride":%s,"order":"%s",' \
        "$sets" "$2" "$1"
    printf '"page_size":"any","min_time":"20 ms","rounds":5},"cpus":[],"dir":"/","lab":0,"more":%s}' "$RANDOM"
}
for round in $(seq "$rounds"); do
    ASSAY_METRICS="$work/$round.jsonl" small_pages taskset -c "$cpu" "$ASSAY" __work pointer-chase "$(task forward 256)"
    ENOUGH=10000 small_pages taskset -c "$cpu" "$work/lat_mem_rd" -N 3 8 256 2>"$work/$round.lm"
done
python3 - "$work" "$rounds" <<'P'
import json, math, statistics, sys
work, rounds = sys.argv[1], int(sys.argv[2])
T = [0, 0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23]
ours, theirs = {}, {}
for r in range(1, rounds + 1):
    for line in open(f"{work}/{r}.jsonl"):
        e = json.loads(line)
        if e.get("curve") == "latency":
            ours.setdefault(e["x"] / 2**20, []).append(e["value"] * 1e9)
    for line in open(f"{work}/{r}.lm"):
        p = line.split()
        if len(p) == 2:
            theirs.setdefault(round(float(p[0]) * 2**20) / 2**20, []).append(float(p[1]))
print("working set   assay ns   lat_mem_rd ns   ratio (95 % interval)")
for x in sorted(ours):
    near = min(theirs, key=lambda t: abs(t - x))
    if abs(near - x) > x / 100:
        continue
    logs = [math.log(a / b) for a, b in zip(ours[x], theirs[near])]
    m, n = statistics.mean(logs), len(logs)
    half = T[min(n, 11)] * statistics.stdev(logs) / math.sqrt(n)
    print(f"{x * 1024:8.0f} KiB {statistics.median(ours[x]):10.3f} {statistics.median(theirs[near]):15.3f}"
          f"   {math.exp(m):.3f} ({math.exp(m - half):.3f}..{math.exp(m + half):.3f})")
P

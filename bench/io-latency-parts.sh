#!/usr/bin/env bash
# Where the time of a direct read of 4 KiB goes between the moments that fio's completion latency begins and
# ends at: the way into the kernel, the block layer and the device (what `assay io` calls latency), the waking
# of the program, the way back. Depth 1, one file; medians of each part. Needs root, fio, bpftrace, python3.
#   bench/io-latency-parts.sh [SECONDS [FOLDER]]       (4 s of a file in /var/tmp)
set -euo pipefail
if [ ! -e /sys/kernel/tracing/events ]; then
    # Where tracefs is not mounted, it is here, for this script alone.
    exec unshare --mount sh -c 'mount -t tracefs tracefs /sys/kernel/tracing && exec "$0" "$@"' "$0" "$@"
fi
work="$(mktemp -d -p "${2:-/var/tmp}")"
trap 'rm -rf "$work"' EXIT
fio --name=make --filename="$work/data" --rw=write --bs=1M --size=256M --direct=1 --end_fsync=1 --output=/dev/null
cat > "$work/read.fio" <<FIO
[read]
filename=$work/data
rw=randread
bs=4k
direct=1
ioengine=psync
norandommap
time_based
runtime=${1:-4}
FIO
cat > "$work/parts.bt" <<'BT'
tracepoint:syscalls:sys_enter_pread64 /comm == "fio"/ { @at[0] = nsecs; @tid = tid; @way = 1; }
tracepoint:block:block_io_start /@way == 1 && tid == @tid/ { @at[1] = nsecs; @sector = args->sector; @way = 2; }
tracepoint:block:block_rq_issue /@way == 2 && args->sector == @sector/ { @at[2] = nsecs; @way = 3; }
tracepoint:block:block_rq_complete /@way == 3 && args->sector == @sector/ { @at[3] = nsecs; @way = 4; }
tracepoint:sched:sched_wakeup /@way == 4 && (uint64)args->pid == @tid/ { @at[4] = nsecs; @way = 5; }
tracepoint:sched:sched_switch /@way == 5 && (uint64)args->next_pid == @tid/ { @at[5] = nsecs; @way = 6; }
tracepoint:syscalls:sys_exit_pread64 /@way == 6 && tid == @tid/ {
    $now = nsecs;
    @part[1] = lhist(@at[1] - @at[0], 0, 50000, 50);
    @part[2] = lhist(@at[2] - @at[1], 0, 50000, 50);
    @whole[3] = lhist(@at[3] - @at[2], 0, 200000, 200);
    @part[4] = lhist(@at[4] - @at[3], 0, 50000, 50);
    @part[5] = lhist(@at[5] - @at[4], 0, 50000, 50);
    @part[6] = lhist($now - @at[5], 0, 50000, 50);
    @whole[7] = lhist($now - @at[0], 0, 200000, 200);
    @whole[8] = lhist(@at[3] - @at[1], 0, 200000, 200);
    @way = 0;
}
END { clear(@at); clear(@tid); clear(@way); clear(@sector); }
BT
bpftrace -q -f json -o "$work/parts.json" -c "$(command -v fio) --output=$work/fio.json --output-format=json $work/read.fio" \
    "$work/parts.bt" 2> "$work/errors" || { cat "$work/errors" >&2; exit 1; }
python3 - "$work" <<'PY'
import json, sys
folder = sys.argv[1]
NAMES = ["system call to block layer",
         "block layer to driver",
         "driver and device",
         "end to waking",
         "waking to running",
         "running to end of call",
         "the whole call",
         "the second and third: what assay counts"]
parts = {}
for line in open(f"{folder}/parts.json"):
    data = json.loads(line).get("data", {})
    for name in ("@part", "@whole"):
        parts.update(data.get(name, {}) if isinstance(data, dict) else {})
fio = json.load(open(f"{folder}/fio.json"))["jobs"][0]["read"]
print("medians in us:")
for at, name in enumerate(NAMES, 1):
    rows = parts[str(at)]
    total, seen = sum(r["count"] for r in rows), 0
    for r in rows:
        seen += r["count"]
        if 2 * seen >= total:
            print(f"  {name:40} {r.get('min', 0) / 1e3:6.1f}   ({total} I/Os)")
            break
print(f"  {'fio: clat':40} {fio['clat_ns']['percentile']['50.000000'] / 1e3:6.1f}   ({fio['total_ios']} I/Os)")
PY

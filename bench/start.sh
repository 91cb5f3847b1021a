#!/usr/bin/env bash
# How long assay takes to start: `assay --version`, and `assay archive list` of 10,000 runs; beside them a program that does
# nothing (`true`). Once with everything in the page cache, and, where /proc/sys/vm/drop_caches can be written, with the page
# cache dropped before each start. All take turns; medians with distribution-free 95 % intervals.
# Usage: bench/start.sh [STARTS [COLD_STARTS]]      ASSAY names the binary; without it a release build is made.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${ASSAY:-}" ]; then
    cargo build --release --locked --quiet --package assay
    ASSAY="${CARGO_TARGET_DIR:-target}/release/assay"
fi
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cargo run --release --locked --quiet --package assay-archive --example ten_thousand -- --keep "$work/many" >"$work/made"
# The first list makes the index.
"$ASSAY" archive list --archive "$work/many" >"$work/list" 2>&1
echo "program of $(stat -c %s "$ASSAY") bytes"
python3 - "$(realpath "$ASSAY")" "$work/many" "${1:-60}" "${2:-15}" <<'P'
import math, os, statistics, subprocess, sys, time

assay, many, starts, cold = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
WHAT = {
    "true": ["true"],
    "assay --version": [assay, "--version"],
    "assay archive list (the newest 30)": [assay, "archive", "list", "--archive", many],
    "assay archive list --limit 10000": [assay, "archive", "list", "--archive", many, "--limit", "10000"],
}


def once(argv):
    """Milliseconds, major faults and MB read from disks."""
    began = time.perf_counter()
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{argv[0]} ended with {status}")
    return (time.perf_counter() - began) * 1e3, usage.ru_majflt, usage.ru_inblock * 512 / 1e6


def drop():
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w") as file:
        file.write("3")


def median(values):
    """The median and the order statistics that hold it with at least 95 % (binomial)."""
    values, n = sorted(values), len(values)
    below = 0.0
    low = 0
    for k in range(n):
        below += math.comb(n, k) / 2 ** n
        if below > 0.025:
            break
        low = k + 1
    low = max(low, 1)
    middle = (values[(n - 1) // 2] + values[n // 2]) / 2
    return f"{middle:6.2f} ms ({values[low - 1]:.2f}..{values[n - low]:.2f}), {n} starts"


def measure(label, count, before):
    times = {name: [] for name in WHAT}
    for _ in range(count):
        for name, argv in WHAT.items():
            before()
            times[name].append(once(argv))
    for name, values in times.items():
        ms, faults, read = zip(*values)
        print(f"{label:15} {name:34} {median(ms)}; {statistics.median(faults):.0f} major faults, "
              f"{statistics.median(read):.1f} MB read")


measure("in the cache", starts, lambda: None)
try:
    drop()
except OSError as e:
    print(f"cache dropped: skipped, because /proc/sys/vm/drop_caches cannot be written ({e.strerror})")
else:
    measure("cache dropped", cold, drop)
print(f"load average {os.getloadavg()[0]:.1f}")
P

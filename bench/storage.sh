#!/usr/bin/env bash
# What storage costs and gives: the time to set each level up and take it away (without the measurement that is
# part of setting up), the rates of the emulated disks against what they are held to, and what compression does to
# the start-up of eight copies of a solver on an emulated disk of 7200 rpm (interleaved, with intervals).
# Needs root, 4 GB in the scratch folder, and the packages of experiments/startup-io.toml.
# Usage: bench/storage.sh [ROUNDS] [BLOCKS] [SIZE]
set -euo pipefail
cd "$(dirname "$0")/.."
rounds="${1:-5}" blocks="${2:-6}" size="${3:-64 MB}"
cargo build --release --locked --quiet --package assay
cargo build --release --locked --quiet --package assay-system --example storage_levels
target="${CARGO_TARGET_DIR:-target}/release"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "### Setting up and taking away, $rounds rounds"
"$target/examples/storage_levels" times "$rounds" tmpfs loop:ext4 loop:xfs loop:btrfs,compress=zstd loop:btrfs,raid1 \
    zram:ext4 zfs-fuse,compress=gzip zfs-fuse,raidz squashfs erofs loop:ext4,emulated=sata-7200,limits=bytes
echo "### Emulated disks, $rounds rounds"
"$target/examples/storage_levels" rates "$rounds" sata-7200 sata-ssd nvme
echo "### Start-up of eight copies, $blocks blocks, $size each"
cat >"$work/startup.toml" <<T
name = "startup-bench"
workload = "startup"
[params]
solver = "clp"
size = "$size"
[factors]
"controls.storage" = [
    "loop:ext4,size=3GiB,emulated=sata-7200,limits=bytes,probe=400ms",
    "loop:btrfs,compress=zstd,size=3GiB,emulated=sata-7200,limits=bytes,probe=400ms",
]
[design]
blocks = $blocks
max_failures = 0
[compare]
metric = "${METRIC:-time_to_user}"
T
ASSAY_ARCHIVE="$work/archive" "$target/assay" run "$work/startup.toml" --json >"$work/run.json" || [ $? -eq 3 ]
python3 - "$work/archive" <<'P'
# Ratios by block, with an interval of 95 % (Student on logs), of every metric that both sides have.
import glob, json, math, statistics, sys
T = [0, 12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]
blocks = {}
for line in open(glob.glob(sys.argv[1] + "/runs/*/records.jsonl")[0]):
    record = json.loads(line)
    for metric in record.get("metrics", []):
        if metric.get("value"):
            blocks.setdefault(metric["name"], {}).setdefault(record["block"], {})[record["treatment"]] = metric["value"]
print("| metric | ext4 | btrfs with zstd | ratio |\n|---|--:|--:|--:|")
for name in ["time_to_user", "read_done", "elapsed", "device_read", "host_system", "user"]:
    pairs = [(b[0], b[1]) for b in blocks.get(name, {}).values() if 0 in b and 1 in b]
    if len(pairs) < 2:
        print(f"| {name} | {len(pairs)} blocks with a value on both sides | | |")
        continue
    logs = [math.log(b / a) for a, b in pairs]
    mean, n = statistics.mean(logs), len(logs)
    half = T[min(n - 1, 10)] * statistics.stdev(logs) / math.sqrt(n)
    side = lambda i: statistics.geometric_mean(p[i] for p in pairs)
    print(f"| {name} | {side(0):.4g} | {side(1):.4g} | {math.exp(mean):.3g} "
          f"({math.exp(mean - half):.3g}..{math.exp(mean + half):.3g}), n={n} |")
P

#!/usr/bin/env bash
# What watching block I/O costs a load of 4 KiB random reads at the fastest device that can be made here:
# a null block device where the kernel has one, else a loop device over memory. One long load; tracers are
# started and stopped beside it in random order, and the I/Os of a window with each are set against those
# of the windows before and after it. Needs root, fio and python3; bpftrace, perf and blktrace are measured
# where they are installed and can capture.
#   bench/io-observer.sh [ROUNDS]
set -euo pipefail
cd "$(dirname "$0")/.."
rounds="${1:-8}"
target="${CARGO_TARGET_DIR:-target}"
[ -x "$target/release/assay" ] || cargo build --release --quiet --locked --package assay
work="$(mktemp -d -p /dev/shm)"
device=""
kind=""
load=""
cleanup() {
    [ -z "$load" ] || { kill "$load" && wait "$load"; } 2>/dev/null || true
    [ "$kind" != loop ] || losetup -d "$device"
    [ "$kind" != null ] || rmdir /sys/kernel/config/nullb/assay 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
if modprobe null_blk nr_devices=0 2>/dev/null && mkdir /sys/kernel/config/nullb/assay 2>/dev/null; then
    echo 1 > /sys/kernel/config/nullb/assay/power
    # Since Linux 6.0 it has the folder's name.
    device=/dev/assay
    [ -e /sys/block/assay ] || device="/dev/nullb$(cat /sys/kernel/config/nullb/assay/index)"
    kind=null
else
    truncate -s 1G "$work/disk"
    dd if=/dev/zero of="$work/disk" bs=1M count=1024 conv=notrunc status=none
    device="$(losetup --find --show "$work/disk")"
    kind=loop
fi
fio --eta=never --name=load --filename="$device" --direct=1 --rw=randread --bs=4k --ioengine=io_uring --iodepth=128 \
    --iodepth_batch_submit=16 --iodepth_batch_complete_min=1 --fixedbufs=1 --registerfiles=1 --norandommap \
    --time_based --runtime=3600 --output=/dev/null &
load=$!
sleep 2
python3 bench/io-observer.py "$target/release/assay" "$device" "$rounds" "$work" "$kind"

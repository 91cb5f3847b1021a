#!/bin/sh
# A load like that of a database under bulk load: loaders write large pieces of a data file
# asynchronously, a log is written in small synchronous pieces, readers look up single pages, and
# something else leaves dirty pages behind for the kernel to write back. Uses fio if it is installed,
# else dd (then there are no asynchronous I/Os, and a note states it).
#   load.sh SECONDS RAMP_SECONDS SIZE_BYTES
set -eu
seconds=$1 ramp=$2 size=$3
say() { printf '%s\n' "$1" >&3; }
fill() { dd if=/dev/zero of="$1" bs=1048576 count=$(($2 / 1048576)) conv=fsync 2>/dev/null; }

fill data "$size"
fill log $((size / 8))
sync
say '{"phase":"ramp-up"}'
if command -v fio >/dev/null; then
    cat >jobs <<END
[global]
time_based
runtime=$((seconds + ramp))
randrepeat=1
group_reporting=0
[loader]
filename=data
size=$size
rw=write
ioengine=libaio
iodepth=4
direct=1
bssplit=32k/20:64k/55:128k/25
[lookup]
filename=data
size=$size
rw=randread
random_distribution=zipf:1.1
ioengine=psync
direct=1
bs=8k
rate_iops=200
[logger]
filename=log
size=$((size / 8))
rw=write
ioengine=psync
bs=8k
sync=dsync
rate_iops=100
[spill]
filename=spill
size=$((size / 4))
rw=write
ioengine=psync
bs=256k
rate=8m
END
    fio --output-format=json --output=fio.json jobs &
    load=$!
    say '{"note":"load: fio"}'
else
    say '{"note":"load: dd, since fio is not installed; nothing is submitted asynchronously"}'
    (
        end=$(($(date +%s) + seconds + ramp))
        while [ "$(date +%s)" -lt "$end" ]; do
            dd if=/dev/zero of=data bs=65536 count=64 seek=$((size / 65536 - 64)) oflag=direct conv=notrunc 2>/dev/null
            dd if=/dev/zero of=log bs=8192 count=16 oflag=dsync conv=notrunc 2>/dev/null
            dd if=data of=/dev/null bs=8192 count=32 skip=77 iflag=direct 2>/dev/null
            dd if=/dev/zero of=spill bs=262144 count=8 2>/dev/null
        done
    ) &
    load=$!
fi
sleep "$ramp"
say '{"phase":"steady"}'
sleep "$seconds"
say '{"phase":"ramp-down"}'
wait "$load"
echo done

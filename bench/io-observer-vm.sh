#!/usr/bin/env bash
# bench/io-observer.sh on stock kernels: in one virtual machine for each, with both sides in it. The guest's clock counts
# the instructions that its CPUs run (QEMU's -icount, one instruction in 2^ICOUNT ns), so a ratio of I/Os in a time is one of
# instructions for an I/O, on any machine and whatever else that does. An instruction is not a time: a miss of a cache counts nothing.
# ICOUNT= (empty): by the emulator's own time. ONLY=WORDS: the tracers whose name has them.
#   bench/io-observer-vm.sh ROUNDS KERNEL...     (kernels as scripts/vm/image has them: 6.1, 6.12)
set -euo pipefail
cd "$(dirname "$0")/.."
rounds="${1:?how many rounds}"
shift
[ "$#" -gt 0 ] || { echo "which kernels?" >&2; exit 2; }
target="${CARGO_TARGET_DIR:-target}"
[ -x "$target/release/assay" ] || cargo build --release --quiet --locked --package assay
icount="${ICOUNT-2}"
root="$(scripts/vm/image root)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
mkdir -p "$work/payload/repository/bench" "$work/payload/target/release"
cp bench/io-observer.sh bench/io-observer.py "$work/payload/repository/bench/"
strip --strip-debug -o "$work/payload/target/release/assay" "$target/release/assay"
cat >"$work/payload/guest" <<END
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TERM=dumb
export CARGO_TARGET_DIR=/payload/target WINDOW=${WINDOW:-2} ICOUNT=$icount ONLY='${ONLY:-}'
echo "assay-vm: kernel \$(uname -r), \$(nproc) CPUs; ready \$(cut -d . -f 1 /proc/uptime) s after it began"
modprobe loop
status=0
bash /payload/repository/bench/io-observer.sh $rounds </dev/null 2>&1 || status=1
echo "assay-vm: done \$status"
sleep 1
systemctl --force --force poweroff
END
mke2fs -q -t ext4 -m 0 -d "$work/payload" "$work/payload.img" 256M
for kernel in "$@"; do
    folder="$(scripts/vm/image kernel "$kernel")"
    printf '\n== Linux %s in a virtual machine\n' "$kernel"
    # With a thread for each emulated CPU the guest hangs: the kernel's counting of probes' time is switched on by patching
    # code that every I/O runs, and QEMU 7.2 went on with the old code, in a trap without end.
    ASSAY_VM_ICOUNT="$icount" ASSAY_VM_THREAD="${ASSAY_VM_THREAD:-single}" scripts/vm/boot "$folder" "$root" "$work/payload.img"
done

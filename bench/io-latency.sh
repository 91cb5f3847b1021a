#!/usr/bin/env bash
# The latency that assay's tracer tells against fio's own completion latency (clat) of the same I/Os: direct
# random reads of 4 KiB of a file, depth 1, so that nothing is added up in between. fio's includes the way
# from the end of the request back to the program. Needs root, fio and python3.
#   bench/io-latency.sh [SECONDS [FOLDER [ROUNDS]]]       (5 s of a file in /var/tmp, 3 rounds)
set -euo pipefail
cd "$(dirname "$0")/.."
target="${CARGO_TARGET_DIR:-target}"
[ -x "$target/release/assay" ] || cargo build --release --quiet --locked --package assay
work="$(mktemp -d -p "${2:-/var/tmp}")"
trap 'rm -rf "$work"' EXIT
fio --name=make --filename="$work/data" --rw=write --bs=1M --size=256M --direct=1 --end_fsync=1 --output=/dev/null
for _ in $(seq "${3:-3}"); do
    "$target/release/assay" io --device "$work/data" --program fio --read --by program --json -- \
        fio --name=read --filename="$work/data" --rw=randread --bs=4k --direct=1 --ioengine=psync --iodepth=1 \
        --norandommap --time_based --runtime="${1:-5}" --output="$work/fio.json" --output-format=json > "$work/assay.json"
    python3 - "$work" <<'PY'
import json, sys
fio = json.load(open(sys.argv[1] + "/fio.json"))["jobs"][0]["read"]
ours = json.load(open(sys.argv[1] + "/assay.json"))
read = next(o for o in ours["ops"] if o["op"] == "read")
a, b = read["latency"]["p50_ns"] / 1e3, fio["clat_ns"]["percentile"]["50.000000"] / 1e3
same = "the same number of I/Os" if read["ios"] == fio["total_ios"] else f"{fio['total_ios']} I/Os by fio"
print(f"{read['ios']} I/Os ({same}); p50 {a:.2f} us by assay, {b:.2f} us by fio, difference {b - a:+.2f} us; without a latency: {ours['completeness']['missed_completions']}")
PY
done

#!/usr/bin/env bash
# The TLB simulator against its nearest peer: cachegrind, whose caches with lines of 4 KiB are TLBs. Both take the
# same program's accesses; rounds are interleaved, and the ratio of rates has an interval (Student on logs).
# Needs valgrind and python3. Usage: bench/tlb.sh [ROUNDS]
#        bench/tlb.sh profile     # what a random load costs: instructions and branches (callgrind), functions (assay profile)
set -euo pipefail
cd "$(dirname "$0")/.."
rounds="${1:-7}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "$rounds" = profile ]; then
    # Symbols and lines are needed here; they change no instruction.
    CARGO_PROFILE_RELEASE_STRIP=false CARGO_PROFILE_RELEASE_DEBUG=line-tables-only \
        cargo build --release --locked --quiet --package assay-traces --example speed --target-dir "$work/target"
    speed="$work/target/release/examples/speed"
    # Of two lengths, so that what starting costs is in neither difference.
    for loads in 1000000 2000000; do
        "$speed" --make random $loads "$work/$loads.trace"
        valgrind --tool=callgrind --branch-sim=yes --callgrind-out-file="$work/$loads.callgrind" \
            --log-file="$work/log" "$speed" two-level-tsb "$work/$loads.trace" >/dev/null
    done
    python3 - "$work" <<'P'
import re, sys

def totals(loads):
    text = open(f"{sys.argv[1]}/{loads}.callgrind").read()
    events = re.search(r"^events: (.*)$", text, re.M)[1].split()
    return dict(zip(events, map(int, re.search(r"^(?:summary|totals): (.*)$", text, re.M)[1].split())))

short, long = totals(1000000), totals(2000000)
each = {event: (long[event] - short[event]) / 1e6 for event in long}
print(f"a random load: {each['Ir']:.1f} instructions, {each['Bc'] + each['Bi']:.1f} branches, "
      f"{each['Bcm'] + each['Bim']:.2f} of them mispredicted (callgrind's model)")
P
    if [ -z "${ASSAY:-}" ]; then
        cargo build --release --locked --quiet --package assay
        ASSAY="${CARGO_TARGET_DIR:-target}/release/assay"
    fi
    "$speed" --make random 20000000 "$work/random.trace"
    "$ASSAY" profile --on-cpu --rate 999 -- "$speed" two-level-tsb "$work/random.trace" 20
    exit
fi
cargo build --release --locked --quiet --package assay-traces --example speed
speed="${CARGO_TARGET_DIR:-target}/release/examples/speed"
program=(gzip -9 -c Cargo.lock)
valgrind --tool=lackey --trace-mem=yes --log-file="$work/fifo.log" "${program[@]}" >/dev/null
"$speed" --convert "$work/fifo.log" "$work/real.trace"
rm "$work/fifo.log"
"$speed" --make server 50000000 "$work/server.trace"
"$speed" --make random 20000000 "$work/random.trace"
for round in $(seq "$rounds"); do
    for trace in real server random; do
        echo "assay-$trace $("$speed" two-level-tsb "$work/$trace.trace")"
    done
    for tool in cachegrind none; do
        args=(--tool=$tool --log-file="$work/$tool.log")
        [ "$tool" = cachegrind ] && args+=(--cache-sim=yes --I1=262144,4,4096 --D1=262144,4,4096 --LL=8388608,8,4096
            --cachegrind-out-file=/dev/null)
        begin=$(date +%s.%N)
        valgrind "${args[@]}" "${program[@]}" >/dev/null
        end=$(date +%s.%N)
        refs=$(awk '/I +refs|D +refs/ { gsub(",", ""); n += $4 } END { print n + 0 }' "$work/$tool.log")
        echo "$tool $refs accesses, $(awk "BEGIN { print $end - $begin }") s"
    done
done | tee "$work/rounds" >&2
python3 - "$work/rounds" <<'P'
import math, re, statistics, sys
rates, none, grind = {}, [], []
for line in open(sys.argv[1]):
    name = line.split()[0]
    if name.startswith("assay-"):
        rates.setdefault(name[6:], []).append(float(re.search(r"([\d.]+) M/s", line)[1]) * 1e6)
    else:
        (none if name == "none" else grind).append((int(line.split()[1]), float(line.split()[3])))
T = [0, 0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23]
def show(label, values, unit=1e6, suffix=" M/s"):
    logs = [math.log(v) for v in values]
    m, n = statistics.mean(logs), len(logs)
    half = T[min(n, 11)] * statistics.stdev(logs) / math.sqrt(n) if n > 1 else float("nan")
    low, mid, high = (math.exp(m + s * half) / unit for s in (-1, 0, 1))
    print(f"{label:44} {mid:8.2f} ({low:.2f}..{high:.2f}){suffix}")
for name, values in rates.items():
    show(f"assay, two levels and a TSB, {name}", values)
show("cachegrind, whole run", [r / s for r, s in grind])
show("cachegrind, less a run without a tool", [r / (s - n[1]) for (r, s), n in zip(grind, none)])
show("assay / cachegrind, whole run", [a * s / r for a, (r, s) in zip(rates["real"], grind)], 1, "")
show("assay / cachegrind, less the run", [a * (s - n[1]) / r for a, (r, s), n in zip(rates["real"], grind, none)], 1, "")
P

#!/usr/bin/env bash
# The workload memory beside mbw, sysbench memory and lmbench's bw_mem (if installed), where they measure the same, on one
# CPU: a run of each in turn, in a new order each round, and the ratio of assay to the peer with its 95 % interval.
#   mbw -t0          copies one array into another with memcpy, and counts the bytes once: kernel memcpy, half its bytes
#   mbw -t1          the same with a loop of one word at a time: kernel copy with instructions=scalar
#   sysbench memory  loads or stores one word at a time in one block: kernels read and write with instructions=scalar
#   bw_mem           bcopy as mbw -t0; frd and fwr as sysbench
# The best repetition of both sides (sysbench: the shortest event, which it prints with 10 us). Then the loops of both sides
# in the same memory (memory-loops.c, with gcc), and the knees of triad beside the cache sizes of sysfs. Two rows differ by
# more than pages and the moment (EPYC, 2 CPUs, loops in the same memory, 64 and 256 MiB):
#   memcpy           mbw's arrays begin 16 bytes behind a page (malloc), and wide stores cross lines: assay, whose arrays
#                    begin on a page, is faster by 1.026 (1.007..1.046) and 1.036 (1.017..1.055)
#   read             sysbench discards the words: 11 instructions for 64 bytes. assay sums them: 22. One core has fewer
#                    lines in flight, 0.966 (0.944..0.989); bound by memory alone it is 0.995 (0.973..1.017). A plain loop
#                    (32 instructions) has 0.884 and 0.954
# copy is the same five instructions as in mbw: 1.021 (1.003..1.040), 0.995 (0.980..1.011); write: 1.003 (0.993..1.012).
# Debian packages: mbw, sysbench (lmbench is in non-free).
# Usage: bench/memory.sh [ROUNDS] [MIB]      ASSAY=PROGRAM takes that assay instead of building one.
set -euo pipefail
rounds="${1:-8}" mib="${2:-64}"
cd "$(dirname "$0")/.."
if [ -z "${ASSAY:-}" ]; then
    cargo build --release --locked --quiet --package assay
    ASSAY=${CARGO_TARGET_DIR:-target}/release/assay
fi
ASSAY=$(realpath "$ASSAY") exec python3 - "$rounds" "$mib" <<'P'
import json, math, os, platform, random, re, shutil, statistics, subprocess, sys, tempfile

rounds, mib = int(sys.argv[1]), int(sys.argv[2])
assay = os.environ["ASSAY"]
cpu = max(os.sched_getaffinity(0))
REPEATS = 60
T = [0, 0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20]


def run(*command):
    """Standard output of a command on the CPU."""
    done = subprocess.run(["taskset", "-c", str(cpu), *command], check=True, text=True, capture_output=True)
    return done.stdout + done.stderr


def kernel(name, instructions, bytes_):
    """Bandwidth of a kernel in B/s, best repetition."""
    params = {"test": "bandwidth", "kernels": name, "working_set": str(bytes_), "min_size": 0, "max_size": 0,
              "per_octave": 2, "threads": 1, "page_size": "any", "instructions": instructions,
              "min_time": "1 us", "rounds": REPEATS}
    spec = {"params": params, "cpus": [cpu], "dir": "/", "lab": 0, "more": 1}
    events = [json.loads(line) for line in run(assay, "__work", "memory", json.dumps(spec)).splitlines()]
    assert all(e["valid"] for e in events if "valid" in e), events
    value = {e["metric"]: e["value"] for e in events if "metric" in e}
    return value["bandwidth"]


def mbw(test):
    found = re.findall(r"^\d.*Copy: ([\d.]+) MiB/s", run("mbw", "-n", str(REPEATS), test, str(mib)), re.M)
    return max(map(float, found)) * 2**20


def sysbench(operation):
    out = run("sysbench", "memory", f"--memory-block-size={mib}M", f"--memory-total-size={mib * REPEATS}M",
              f"--memory-oper={operation}", "--threads=1", "run")
    return mib * 2**20 / (float(re.search(r"min: +([\d.]+)", out)[1]) / 1e3)


def bw_mem(operation):
    return float(run("bw_mem", "-N", "5", f"{mib}m", operation).split()[1]) * 1e6


size = mib * 2**20
ROWS = [
    ("mbw -t0 (memcpy)", "mbw", lambda: mbw("-t0"), lambda: kernel("memcpy", "auto", 2 * size) / 2),
    ("mbw -t1 (loop)", "mbw", lambda: mbw("-t1"), lambda: kernel("copy", "scalar", 2 * size) / 2),
    ("sysbench read", "sysbench", lambda: sysbench("read"), lambda: kernel("read", "scalar", size)),
    ("sysbench write", "sysbench", lambda: sysbench("write"), lambda: kernel("write", "scalar", size)),
    ("bw_mem bcopy", "bw_mem", lambda: bw_mem("bcopy"), lambda: kernel("memcpy", "auto", 2 * size) / 2),
    ("bw_mem frd", "bw_mem", lambda: bw_mem("frd"), lambda: kernel("read", "scalar", size)),
    ("bw_mem fwr", "bw_mem", lambda: bw_mem("fwr"), lambda: kernel("write", "scalar", size)),
]
for peer in dict.fromkeys(row[1] for row in ROWS if not shutil.which(row[1])):
    print(f"left out: {peer} is not installed")
rows = [row for row in ROWS if shutil.which(row[1])]
values = {row[0]: [] for row in rows}
for _ in range(rounds):
    random.shuffle(rows)
    for name, _, theirs, ours in rows:
        sides = [("theirs", theirs), ("ours", ours)]
        random.shuffle(sides)
        values[name].append({side: measure() for side, measure in sides})
print(f"{mib} MiB on CPU {cpu}, {rounds} rounds       assay GB/s   peer GB/s   ratio (95 % interval)")
for name, pairs in values.items():
    logs = [math.log(p["ours"] / p["theirs"]) for p in pairs]
    middle, n = statistics.mean(logs), len(logs)
    half = T[min(n, 12)] * statistics.stdev(logs) / math.sqrt(n)
    ours, theirs = (statistics.median(p[side] for p in pairs) / 1e9 for side in ("ours", "theirs"))
    print(f"{name:36} {ours:10.2f} {theirs:11.2f}   {math.exp(middle):.3f} ({math.exp(middle - half):.3f}.."
          f"{math.exp(middle + half):.3f})")
if platform.machine() == "x86_64" and shutil.which("gcc"):
    with tempfile.TemporaryDirectory() as folder:
        loops = f"{folder}/memory-loops"
        subprocess.run(["gcc", "-O2", "-o", loops, "bench/memory-loops.c", "-lm"], check=True)
        print(run(loops, str(mib), "12", str(max(2, 1280 // mib))), end="")
else:
    print("left out: the loops in the same memory (x86-64 with gcc)")
spec = {"params": {"test": "bandwidth", "kernels": "triad", "working_set": "sweep", "min_size": 0, "max_size": 0,
                   "per_octave": 4, "threads": 1, "page_size": "any", "instructions": "auto",
                   "min_time": "5 ms", "rounds": 5}, "cpus": [cpu], "dir": "/", "lab": 0, "more": 1}
for line in run(assay, "__work", "memory", json.dumps(spec)).splitlines():
    note = json.loads(line).get("note", "")
    if "knees" in note:
        print(note)
P

#!/usr/bin/env bash
# How long `assay audit` takes for a long post: a text of about 60 KB that this script makes (a table
# of 40 rows, 500 sentences that compare, restate and convert, a disclosure), wall time of the whole
# command.
#
#   bench/audit.sh [REPEATS [OLD]]        (31 repeats: about 10 seconds)
#
# Goal: below 200 ms. Prints least and median of the repeats; with OLD, another assay, those of both by
# turns, and the geometric mean of the ratios of new to old with its 95 % interval.
# Needs: python3 (a Debian package).
set -euo pipefail

repeats=${1:-31}
old=${2:+$(realpath "$2")}
cd "$(dirname "$0")/.."

command -v python3 >/dev/null || {
    echo "skipped: because python3 is not installed (apt-get install python3)" >&2
    exit 0
}
cargo build --quiet --release -p assay
target=$(cargo metadata --format-version 1 --no-deps | python3 -c 'import json,sys; print(json.load(sys.stdin)["target_directory"])')

exec env PYTHONPATH=bench python3 - "$target/release/assay" "$repeats" "$old" <<'PYTHON'
import json, os, statistics, subprocess, sys, tempfile, time

import pairs

assay, repeats, old = sys.argv[1], int(sys.argv[2]), sys.argv[3]
makers = ["Acme", "Bolt", "Crow", "Dove", "Elk"]
rows = [(f"{makers[i % 5]} Z{100 + 7 * i}", 1 + i % 4, 4 * (1 + i % 4), 1.6 + i % 3, 500000 - 9973 * i) for i in range(40)]
lines = ["# Results", "", "Chart (ordered by performance)", "", "| System | Chips | Cores | GHz | bops |", "|---|---|---|---|---|"]
lines += [f"| {n} | {c} | {k} | {g:.1f} | {v} |" for n, c, k, g, v in rows]
lines.append("")
for i in range(500):
    (n, _, _, _, v), (m, _, _, _, w) = sorted((rows[i % 40], rows[(i * 11 + 5) % 40]), key=lambda r: -r[4])
    lines.append([
        f"* The {n} delivered {round((v / w - 1) * 100)}% better performance than the {m} result of {w} bops in our laboratory.",
        f"* With a result of {v} bops the {n} has {v / w:.2f} times the performance of the {m} server.",
        f"* The {n} moves {i + 1} GB/s, which is {8 * (i + 1)} Gbit/s, while it was used with all of its cores for orders.",
        f"* The {n} beats the {m} on the same workload, and the disks were saturated because of the log.",
    ][i % 4])
lines += ["", "## Disclosure", "", "Results as of 8/25/2009. " + "; ".join(f"{n} ({c} chips, {k} cores) {v} bops" for n, c, k, _, v in rows) + "."]
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "post.md")
    with open(path, "w") as f:
        f.write("\n".join(lines) + "\n")
    seen = subprocess.run([assay, "audit", "--json", path], capture_output=True, text=True)
    claims = json.loads(seen.stdout)["files"][0]["claims"]
    def wall(binary):
        start = time.perf_counter()
        subprocess.run([binary, "audit", path], stdout=subprocess.DEVNULL)
        return (time.perf_counter() - start) * 1e3

    times = {binary: [] for binary in ([assay, old] if old else [assay])}
    for i in range(repeats):
        for binary in sorted(times, reverse=i % 2 == 1):
            times[binary].append(wall(binary))
    verdicts = {v: sum(c["verdict"] == v for c in claims) for v in sorted({c["verdict"] for c in claims})}
    print(f"{os.path.getsize(path) / 1000:.1f} kB, {len(claims)} claims {verdicts}")
    for binary, ms in times.items():
        print(f"{binary}: wall ms: least {min(ms):.1f}, median {statistics.median(ms):.1f}, of {repeats}")
    if old:
        mean, low, high = pairs.ratio([new / before for new, before in zip(times[assay], times[old])])
        print(f"new by old: {mean:.3f} [{low:.3f}, {high:.3f}]")
PYTHON

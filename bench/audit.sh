#!/usr/bin/env bash
# How long `assay audit` takes for a long post: a text of about 60 KB that this script makes (a table
# of 40 rows, 500 sentences that compare, restate and convert, a disclosure), wall time of the whole
# command.
#
#   bench/audit.sh [REPEATS]        (31 repeats: about 5 seconds)
#
# Goal: below 200 ms. Prints least and median of the repeats.
# Needs: python3 (a Debian package).
set -euo pipefail

repeats=${1:-31}
cd "$(dirname "$0")/.."

command -v python3 >/dev/null || {
    echo "skipped: because python3 is not installed (apt-get install python3)" >&2
    exit 0
}
cargo build --quiet --release -p assay
target=$(cargo metadata --format-version 1 --no-deps | python3 -c 'import json,sys; print(json.load(sys.stdin)["target_directory"])')

exec python3 - "$target/release/assay" "$repeats" <<'PYTHON'
import json, os, statistics, subprocess, sys, tempfile, time

assay, repeats = sys.argv[1], int(sys.argv[2])
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
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        subprocess.run([assay, "audit", path], stdout=subprocess.DEVNULL)
        times.append((time.perf_counter() - start) * 1e3)
    verdicts = {v: sum(c["verdict"] == v for c in claims) for v in sorted({c["verdict"] for c in claims})}
    print(f"{os.path.getsize(path) / 1000:.1f} kB, {len(claims)} claims {verdicts}")
    print(f"wall ms: least {min(times):.1f}, median {statistics.median(times):.1f}, of {repeats}")
PYTHON

#!/usr/bin/env bash
# What a run on N nodes costs beside its programs: from the request for the job to the last agent, the
# barrier of a trial, the looks at the clocks, the merging, and the wall time of a trial beyond its program's.
#
#   bench/slurm.sh [REPEATS [TRIALS [NODES...]]]      (3, 10 and 1 2 4 8 16 32 48)
#
# The nodes are virtual: real slurmctld and slurmd from Debian's packages, all on this machine, so that N
# agents share its CPUs. Figures are of the harness here, and more than on N machines.
# Within a repeat each number of nodes has its turn, the order reversed every other repeat.
# Needs root and: slurmctld, slurmd, slurm-client, munge, python3 (Debian packages).
set -euo pipefail
cd "$(dirname "$0")/.."
repeats=${1:-3} trials=${2:-10}
nodes=("${@:3}")
[ "${#nodes[@]}" -gt 0 ] || nodes=(1 2 4 8 16 32 48)
for tool in salloc slurmctld slurmd munged python3; do
    PATH="$PATH:/usr/sbin" command -v "$tool" >/dev/null || {
        echo "skipped: because $tool is not installed (apt-get install slurmctld slurmd slurm-client munge)" >&2
        exit 0
    }
done
[ "$(id -u)" -eq 0 ] || { echo "skipped: because daemons of Slurm are started as root" >&2; exit 0; }
[ -n "${ASSAY:-}" ] || {
    cargo build --quiet --release -p assay
    ASSAY=$(cargo metadata --format-version 1 --no-deps |
        python3 -c 'import json,sys; print(json.load(sys.stdin)["target_directory"])')/release/assay
}
most=$(printf '%s\n' "${nodes[@]}" | sort -n | tail -1)
dir=$(mktemp -d)
trap 'scripts/virtual-slurm stop "$dir/slurm"; rm -rf "$dir"' EXIT
mkdir -p "$dir/slurm" "$dir/scratch"
scripts/virtual-slurm start "$dir/slurm" "$most" >/dev/null 2>"$dir/start.log" </dev/null
export SLURM_CONF="$dir/slurm/slurm.conf" ASSAY_STATE="$dir/state" ASSAY_SCRATCH="$dir/scratch"

python3 - "$ASSAY" "$dir" "$repeats" "$trials" "${nodes[@]}" <<'PYTHON'
import glob, json, os, random, statistics, subprocess, sys

assay, dir, repeats, trials = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
sizes = [int(n) for n in sys.argv[5:]]
WHAT = ("noop", "busy")
seen = {(w, n): {} for w in WHAT for n in sizes}


def add(key, name, value):
    seen[key].setdefault(name, []).append(value)


def run(what, nodes, turn):
    archive = f"{dir}/archive-{what}-{nodes}-{turn}"
    # Half a second of computing on every node: the harness beside programs that work.
    program = ["noop"] if what == "noop" else ["--", "timeout", "0.5", "sh", "-c", "while :; do :; done"]
    command = [assay, "run", "--quiet", "--on", "slurm", "--nodes", str(nodes), "--monitors", "none"]
    command += ["--blocks", trials, "--ignore-failure"] if what == "busy" else ["--blocks", trials]
    env = {**os.environ, "ASSAY_ARCHIVE": archive}
    subprocess.run(command + program, check=True, env=env, stdout=subprocess.DEVNULL)
    for path in sorted(glob.glob(f"{archive}/runs/*/trials/*/nodes.json")):
        with open(path) as file:
            trial = json.load(file)
        took, key = trial["took"], (what, nodes)
        slowest = max(n["resources"]["wall_s"] for n in trial["nodes"])
        add(key, "barrier", took["barrier_ns"] * 1e-6)
        add(key, "looks", took["looks_ns"] * 1e-6)
        add(key, "merge", took["merge_ns"] * 1e-6)
        add(key, "spread", trial["coincidence"]["begin_spread_ns"] * 1e-6)
        total = took["barrier_ns"] + took["looks_ns"] + took["run_ns"] + took["merge_ns"]
        add(key, "overhead", total * 1e-6 - slowest * 1e3)
    add((what, nodes), "start", took["start_ns"] * 1e-6)


def interval(values):
    """Median with a 95 % bootstrap interval."""
    rng = random.Random(1)
    medians = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(1000))
    return f"{statistics.median(values):.3g} ({medians[25]:.3g}..{medians[974]:.3g})"


for turn in range(repeats):
    order = [(w, n) for n in sizes for w in WHAT]
    for what, nodes in order if turn % 2 == 0 else reversed(order):
        run(what, nodes, turn)

names = ["start", "barrier", "looks", "spread", "merge", "overhead"]
print("| program | nodes | " + " | ".join(names) + " | overhead a node |")
print("|---|---|" + "---|" * (len(names) + 1))
for what in WHAT:
    for nodes in sizes:
        of = seen[(what, nodes)]
        cells = [interval(of[name]) for name in names]
        each = interval([v / nodes for v in of["overhead"]])
        print(f"| {what} | {nodes} | " + " | ".join(cells) + f" | {each} |")
print("\nms, medians with 95 % intervals. start: request to the last agent that came; barrier: order to last node")
print("prepared; looks: 16 round trips to every node; spread: first to last program's start; merge: making")
print("one record; overhead: the trial's wall time less the slowest program's.")
PYTHON

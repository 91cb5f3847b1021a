#!/usr/bin/env bash
# What sampling costs: all monitors of assay at 1 Hz against the sysstat programs that read the same
# counters, as CPU time (user + system) of the whole process tree, in percent of one core.
#
#   bench/monitors.sh [SECONDS [REPEATS]]        (20 s and 5 repeats: about 9 minutes)
#
# Goal: all monitors at 1 Hz below 0.5 % of one core, and less than sar + pidstat.
# Variants run one after the other, in turn within a repeat, their order reversed every other repeat,
# so that a change of the machine's load meets all of them.
# Needs: sysstat, procps, python3 (Debian packages). Starting a program is part of its cost, so short runs
# flatter nobody. `pidstat` reads every process, which no monitor of assay does: it is listed apart.
set -euo pipefail

seconds=${1:-20}
repeats=${2:-5}
cd "$(dirname "$0")/.."

for tool in sar pidstat iostat mpstat vmstat python3; do
    command -v "$tool" >/dev/null || {
        echo "skipped: because $tool is not installed (apt-get install sysstat procps python3)" >&2
        exit 0
    }
done
cargo build --quiet --release -p assay-observe --example monitors
target=$(cargo metadata --format-version 1 --no-deps | python3 -c 'import json,sys; print(json.load(sys.stdin)["target_directory"])')

exec python3 - "$target/release/examples/monitors" "$seconds" "$repeats" <<'PYTHON'
import ctypes, os, resource, statistics, subprocess, sys

monitors, seconds, repeats = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
n = str(seconds)
# cpu | disk | memory, paging, swap | pressure and load | switches, forks, interrupts | network
sar = ["sar", "-u", "ALL", "-P", "ALL", "-d", "-r", "ALL", "-B", "-W", "-S", "-q", "ALL", "-w",
       "-I", "SUM", "-n", "DEV,EDEV,ETCP", "1", n]
# A variant is a list of programs that run side by side.
variants = {
    "assay monitors": [[monitors, "1", n]],
    "sar": [sar],
    "pidstat": [["pidstat", "1", n]],
    "sar + pidstat": [sar, ["pidstat", "1", n]],
    "iostat + mpstat + vmstat": [["iostat", "-x", "1", n], ["mpstat", "-P", "ALL", "1", n],
                                 ["vmstat", "1", n]],
}

# sar puts its collector in the place of its parent, so children must come back to us to be counted.
PR_SET_CHILD_SUBREAPER = 36
if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
    sys.exit("cannot become the reaper of grandchildren; Linux 3.4 or later is needed")


def cpu_seconds(commands):
    """CPU time of the commands and of all that they started, however they ended."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for command in commands:
        subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"})
    while True:
        try:
            _, status = os.wait()
        except ChildProcessError:
            break
        if status != 0:
            sys.exit(f"a process of {commands} ended with status {status}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


shares = {name: [] for name in variants}
for repeat in range(repeats):
    for name in list(variants)[:: -1 if repeat % 2 else 1]:
        shares[name].append(100 * cpu_seconds(variants[name]) / seconds)

own = shares["assay monitors"]
print(f"CPU time at 1 Hz, % of one core: median (least..greatest) of {repeats} runs of {seconds} s,")
print("and the median over the repeats of its ratio to the monitors of assay")
for name, values in shares.items():
    ratio = statistics.median(v / o for v, o in zip(values, own))
    spread = f"({min(values):.4f}..{max(values):.4f})"
    print(f"{name:<26}{statistics.median(values):8.4f} {spread:<20}{ratio:7.1f} x")
worst = max(own)
print(f"below 0.5 % of one core in every run: {'yes' if worst < 0.5 else 'NO'} ({worst:.4f} %)")
PYTHON

"""A trial in a container beside `podman run` of the same image with the same network and limits, interleaved:
the wall time of each less that of the program, as a ratio with its 95 % interval. assay's is the slope between
two numbers of trials, which leaves out its start. Then the CPU time of a busy program in the container beside
the same without one, by assay's own interleaved trials."""

import json
import os
import resource
import statistics
import subprocess
import sys
import time

from pairs import interval, ratio

ASSAY, IMAGE, ROUNDS, TRIALS = os.path.abspath(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
# An image has another environment, and a shell with other variables takes another time.
BUSY = ["env", "-i", "PATH=/usr/bin:/bin", "sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"]


def run(argv):
    began = time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - began


def records(levels, blocks, command):
    """The wall time of a run of assay, and its records."""
    wall = run([ASSAY, "run", "--quiet", "--blocks", str(blocks), "--set", f"controls.image={levels}", "--", *command])
    shown = subprocess.run([ASSAY, "archive", "show", "last", "--json"], check=True, capture_output=True)
    return wall, json.loads(shown.stdout)["records"]


def own_of_assay():
    """Own time of a trial: the slope between one and all trials."""
    own = []
    for blocks in (1, 1 + TRIALS):
        wall, done = records(IMAGE, blocks, ["true"])
        own.append(wall - sum(r["resources"]["wall_s"] for r in done))
    return (own[1] - own[0]) / TRIALS


def own_of_podman(program_s):
    files = ":".join(str(limit) for limit in resource.getrlimit(resource.RLIMIT_NOFILE))
    limits = [f"--ulimit=nofile={files}", "--ulimit=nproc=32768:32768"]
    argv = ["podman", "run", "--rm", "--pull=never", "--network=host", *limits, IMAGE, "true"]
    return sum(run(argv) for _ in range(TRIALS)) / TRIALS - program_s


program_s = statistics.fmean(r["resources"]["wall_s"] for r in records(IMAGE, 5, ["true"])[1])
own = {"assay": [], "podman run": []}
for round_ in range(ROUNDS):
    sides = [("assay", own_of_assay), ("podman run", lambda: own_of_podman(program_s))]
    for name, measure in sides if round_ % 2 == 0 else sides[::-1]:
        own[name].append(measure())
for name, values in own.items():
    print("  own time of {}: {:.1f} ({:.1f}..{:.1f}) ms a trial".format(name, *(v * 1e3 for v in interval(values))))
pairs = [a / p for a, p in zip(own["assay"], own["podman run"])]
print("  assay / podman run: {:.3f} ({:.3f}..{:.3f})".format(*ratio(pairs)))

_, done = records(f"default,{IMAGE}", 2 * TRIALS, BUSY)
cpu = {}
for r in done:
    cpu.setdefault(r["block"], {})[r["treatment"]] = r["resources"]["user_s"] + r["resources"]["system_s"]
print("  CPU time of a busy program, in a container / without: {:.4f} ({:.4f}..{:.4f})".format(*ratio([b[1] / b[0] for b in cpu.values()])))

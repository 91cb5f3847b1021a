"""assay against hyperfine, both sides in one run and interleaved. Both discard the output of the
commands, as hyperfine does by default; assay archives every trial and has its monitors on.

1. Own time per trial: the wall time of the whole command, less what it measured, for two numbers of
   runs; the slope between them leaves out start-up. On `true` and on a command of 100 ms.
2. The measured mean of both, as a ratio with its interval.
3. Under a drift injected by a third process that slows the machine while the commands run, two
   identical commands: how often does each side's 95 % interval of the ratio cover the truth, 1?
   (hyperfine prints ratio +- sigma; two of them are taken as its interval.)
"""

import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from pairs import interval, ratio

ASSAY, ROUNDS, REPEATS = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])


def environment(folder):
    env = dict(os.environ)
    env.update(ASSAY_ARCHIVE=f"{folder}/archive", ASSAY_STATE=f"{folder}/state", NO_COLOR="1")
    return env


def timed(argv, env):
    began = time.perf_counter()
    subprocess.run(argv, check=True, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - began


def hyperfine(command, runs, folder, shell):
    """(wall of the whole command, sum of its times, its mean)."""
    out = f"{folder}/hf.json"
    flags = [] if shell else ["-N"]
    argv = ["hyperfine", *flags, "--runs", str(runs), "--export-json", out, command]
    wall = timed(argv, environment(folder))
    result = json.load(open(out))["results"][0]
    return wall, sum(result["times"]), result["mean"]


def assay(command, runs, folder, shell):
    out = f"{folder}/assay.json"
    flags = ["--shell"] if shell else []
    argv = [ASSAY, "run", "--quiet", "--output", "null", *flags, "--blocks", str(runs)]
    argv += ["--export", f"hyperfine={out}", "--", *([command] if shell else command.split())]
    wall = timed(argv, environment(folder))
    result = json.load(open(out))["results"][0]
    return wall, sum(result["times"]), result["mean"]


def own_time(command, few, many, shell, rounds):
    own = {"hyperfine": [], "assay": []}
    between = []
    mean = {"hyperfine": [], "assay": []}
    with tempfile.TemporaryDirectory() as folder:
        for round_ in range(rounds):
            sides = [("hyperfine", hyperfine), ("assay", assay)]
            for name, run in sides if round_ % 2 == 0 else sides[::-1]:
                wall_few, sum_few, _ = run(command, few, folder, shell)
                wall_many, sum_many, m = run(command, many, folder, shell)
                own[name].append(((wall_many - sum_many) - (wall_few - sum_few)) / (many - few))
                mean[name].append(m)
                if name == "assay":
                    shown = subprocess.run([ASSAY, "archive", "show", "last", "--json"], env=environment(folder), capture_output=True)
                    records = json.loads(shown.stdout)["records"]
                    gaps = [b["start_ns"] - a["end_ns"] for a, b in zip(records, records[1:])]
                    between.append(statistics.fmean(gaps) / 1e9)
    label = f"`{command}`, {'by a shell' if shell else 'no shell'}"
    for name in ("hyperfine", "assay"):
        m, lo, hi = interval([v * 1e6 for v in own[name]])
        print(f"  {label}: own time of {name}: median {statistics.median(own[name]) * 1e6:.0f} us, mean {m:.0f} ({lo:.0f}..{hi:.0f}) us a run")
    m, lo, hi = interval([v * 1e6 for v in between])
    print(f"  {label}: of that, assay between trials, by its own records: {m:.0f} ({lo:.0f}..{hi:.0f}) us")
    difference = interval([(a - h) * 1e6 for a, h in zip(own["assay"], own["hyperfine"])])
    print("  {}: assay - hyperfine: {:.0f} ({:.0f}..{:.0f}) us a run".format(label, *difference))
    if shell:
        print(f"  {label}: measured mean: not compared; hyperfine takes the shell's start-up off, assay does not")
        return
    print("  {}: measured mean, assay / hyperfine: {:.4f} ({:.4f}..{:.4f})".format(label, *ratio([a / h for a, h in zip(mean["assay"], mean["hyperfine"])])))


BUSY = "x=1\nfor i in range({n}): x = (x * 1103515245 + 12345) % 2147483648"


class Drift:
    """A third process that takes a growing share of the CPU that the commands run on."""

    def __init__(self, seconds):
        code = (
            "import time,os\nos.sched_setaffinity(0,{0})\nbegan=time.perf_counter()\n"
            f"while True:\n s=min(1,(time.perf_counter()-began)/{seconds})\n"
            " end=time.perf_counter()+0.02*s\n"
            " while time.perf_counter()<end: pass\n time.sleep(0.02*(1.2-s))\n"
        )
        self.process = subprocess.Popen([sys.executable, "-c", code])

    def end(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def under_drift():
    """Two identical commands of about 20 ms on the CPU that the drift is on."""
    busy = "taskset -c 0 sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'"
    covered = {"hyperfine": 0, "assay": 0}
    claimed = {"hyperfine": 0, "assay": 0}
    with tempfile.TemporaryDirectory() as folder:
        env = environment(folder)
        for _ in range(REPEATS):
            out = f"{folder}/hf.json"
            drift = Drift(1.2)
            timed(["hyperfine", "-N", "--runs", "10", "--export-json", out, busy, busy + " "], env)
            drift.end()
            a, b = json.load(open(out))["results"]
            r = b["mean"] / a["mean"]
            sigma = r * math.hypot(a["stddev"] / a["mean"], b["stddev"] / b["mean"])
            # Its own words: ratio +- sigma. The interval of the mean ratio is narrower by sqrt(n).
            half = 1.96 * sigma / math.sqrt(10)
            covered["hyperfine"] += r - half <= 1 <= r + half
            claimed["hyperfine"] += abs(r - 1) > sigma
            drift = Drift(1.2)
            argv = [ASSAY, "run", "--quiet", "--json", "--monitors", "none", "--blocks", "10", "--vs", busy + " -", "--"]
            argv += ["taskset", "-c", "0", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"]
            done = subprocess.run(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            drift.end()
            c = json.loads(done.stdout)["analysis"]["comparisons"][0]
            covered["assay"] += c["interval"]["low"] <= 1 <= c["interval"]["high"]
            claimed["assay"] += c["verdict"] in ("better", "worse")
    for name in ("hyperfine", "assay"):
        print(f"  {name}: the 95 % interval of the ratio covers the truth in {covered[name]} of {REPEATS}; a difference is claimed in {claimed[name]}")


if __name__ == "__main__":
    print(subprocess.run(["hyperfine", "--version"], capture_output=True, text=True).stdout.strip(), "and", subprocess.run([ASSAY, "--version"], capture_output=True, text=True).stdout.strip())
    print(f"own time per trial and measured mean, {4 * ROUNDS} rounds of `true`, {ROUNDS} of 100 ms")
    for shell in (True, False):
        # A round of the long command takes as long as eight of the short one.
        own_time("true", 100, 1100, shell, 4 * ROUNDS)
        own_time("sleep 0.1", 5, 45, shell, ROUNDS)
    if REPEATS:
        print(f"under a drift injected by a third process, {REPEATS} repeats")
        under_drift()

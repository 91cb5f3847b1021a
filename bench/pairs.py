"""What the measurements share: means and ratios with their 95 % intervals, and loads run alone and with something else, in turn."""

import math
import os
import random
import statistics
import subprocess
import sys
import time


def student(df):
    """The 97.5 % quantile of Student's t: from 6 degrees on by Cornish and Fisher's expansion, to a thousandth."""
    if df < 6:
        return (12.706, 4.303, 3.182, 2.776, 2.571)[df - 1]
    z = 1.959964
    return z + (z**3 + z) / (4 * df) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df**2) + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * df**3)


def interval(values):
    """Mean and 95 % interval; one value alone has none."""
    mean, n = statistics.fmean(values), len(values)
    half = student(n - 1) * statistics.stdev(values) / math.sqrt(n) if n > 1 else math.inf
    return mean, mean - half, mean + half


def ratio(ratios):
    """Geometric mean of ratios and its 95 % interval."""
    return tuple(math.exp(v) for v in interval([math.log(r) for r in ratios]))


def plain(load):
    """What a load prints: its throughput."""
    return float(subprocess.run(load, check=True, capture_output=True, text=True).stdout)


def under(command, folder):
    """Runs a load as the last words of a command; its output goes to a file, whatever the command prints."""

    def run(load):
        out = os.path.join(folder, "out")
        inner = ["sh", "-c", 'exec "$@" > ' + out, "sh", *load]
        subprocess.run([*command, *inner], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(out) as file:
            return float(file.read())

    return run


def compare(loads, asked, rounds, unit, minutes=math.inf, each=None):
    """Prints throughput with each thing over that without it: `asked` has rows of a load's name, a name, and what runs it.
    No round begins after so many minutes. `each`: what one of the things that are counted is called, whose cost is printed then,
    of a load that runs on one CPU. ONLY=WORD,... in the environment leaves out rows without any of the words."""
    words = os.environ.get("ONLY", "").split(",")
    asked = [row for row in asked if any(word in f"{row[0]} {row[1]}" for word in words)]
    began = time.monotonic()
    ratios = {i: [] for i in range(len(asked))}
    base = {name: [] for name in loads}
    for at in range(rounds):
        if time.monotonic() - began > 60 * minutes:
            print(f"stopped after {at} of {rounds} rounds: {minutes:.0f} min are over", file=sys.stderr)
            break
        for i in random.sample(range(len(asked)), len(asked)):
            load, what, run = asked[i]
            try:
                if random.random() < 0.5:
                    without, with_it = plain(loads[load]), run(loads[load])
                else:
                    with_it, without = run(loads[load]), plain(loads[load])
            except (RuntimeError, ValueError, subprocess.CalledProcessError) as why:
                print(f"skipped: because {what} failed: {why}", file=sys.stderr)
                continue
            base[load].append(without)
            ratios[i].append(with_it / without)
        print(f"round {at + 1} of {rounds}", file=sys.stderr)
    for name, values in base.items():
        if values:
            print(f"{name} alone: {statistics.fmean(values):.0f} {unit} (mean of {len(values)})")
    print(f"load average {os.getloadavg()[0]:.1f}; ratio of throughput, with over without, 95 % interval")
    for i, (load, what, _) in enumerate(asked):
        if len(ratios[i]) < 3:
            print(f"{load:7} {what:34} too few pairs")
            continue
        middle, low, high = ratio(ratios[i])
        ns = 1e9 / statistics.fmean(base[load])
        cost = f", {ns * (1 / middle - 1):.0f} ns a {each} [{ns * (1 / high - 1):.0f}, {ns * (1 / low - 1):.0f}]" if each else ""
        print(f"{load:7} {what:34} {middle:.4f} [{low:.4f}, {high:.4f}] n={len(ratios[i])}{cost}")

"""The measurements of bench/orders.sh: see there."""

import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

from pairs import ratio

ASSAY = os.path.abspath(sys.argv[1])
WORLD = tempfile.TemporaryDirectory(prefix="assay-bench-orders-")
# 1 and 2 warehouses of one instance on all CPUs: short enough for ten runs in four minutes.
SHORT = ["peak=1", "least_points=2", "below=1s", "scored=3s", "ramp_up=3s", "collector=parallel", "heap=512MiB"]


def record(settings, decides="orders/s"):
    """Runs one trial; its record. A trial without the metric that decides fails."""
    world = tempfile.mkdtemp(dir=WORLD.name)
    env = dict(os.environ, ASSAY_ARCHIVE=f"{world}/archive", ASSAY_STATE=f"{world}/state", ASSAY_SCRATCH=world,
               ASSAY_CACHE=f"{WORLD.name}/cache")
    command = [ASSAY, "run", "orders", "--blocks", "1", "--json", "--metric", decides]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    runs = os.listdir(f"{world}/archive/runs") if os.path.isdir(f"{world}/archive/runs") else []
    if not runs:
        sys.exit(f"no run: {done.stderr}")
    with open(f"{world}/archive/runs/{runs[0]}/records.jsonl") as file:
        got = json.loads(file.readline())
    if got["outcome"] != "completed":
        sys.exit(f"the trial failed: {got.get('error')}")
    return got


def metric(got, name):
    return next(m["value"] for m in got["metrics"] if m["name"] == name)


def variation(values):
    """The coefficient of variation, and its 95 % interval by the bootstrap (10,000 resamples, fixed seed)."""
    import random

    rng = random.Random(1)
    cv = lambda v: statistics.stdev(v) / statistics.mean(v)
    again = sorted(cv([rng.choice(values) for _ in values]) for _ in range(10_000))
    return cv(values), again[250], again[9750]


def peer(command):
    """The time of the last repetition that the peer prints in ms, else that of the whole."""
    began = time.monotonic()
    done = subprocess.run(shlex.split(command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    took = time.monotonic() - began
    if done.returncode != 0:
        sys.exit(f"the peer failed: {done.stdout[-300:]}")
    times = re.findall(r"\(?([\d.]+) ms\)?", done.stdout) + re.findall(r"in (\d+) msec", done.stdout)
    return float(times[-1]) / 1000 if times else took


def repeat(runs):
    command = os.environ.get("PEER")
    scores, times, pauses, busy = [], [], [], []
    for _ in range(runs):
        got = record(SHORT)
        scores.append(metric(got, "orders/s"))
        pauses.append(metric(got, "pause"))
        busy.append(metric(got, "controller_busy"))
        if command:
            times.append(peer(command))
    cv = variation(scores)
    print(f"orders, {runs} runs: mean {statistics.mean(scores):.0f} orders/s, coefficient of variation "
          f"{100 * cv[0]:.1f} % (95 % interval {100 * cv[1]:.1f} to {100 * cv[2]:.1f} %)")
    if times:
        cv = variation(times)
        print(f"peer, {runs} runs in turn: mean {statistics.mean(times):.3f} s, coefficient of variation "
              f"{100 * cv[0]:.1f} % (95 % interval {100 * cv[1]:.1f} to {100 * cv[2]:.1f} %)  [{command}]")
    else:
        print("peer: absent (set PEER)")
    print(f"pause between points: at most {max(pauses) * 1e3:.0f} ms; controller: at most {100 * max(busy):.2f} % of a CPU "
          "in the scored points")


def many(instances):
    got = record([f"instances={instances}", "peak=1", "least_points=1", "below=1s", "scored=3s", "ramp_up=3s",
                  "heap=160MiB", "collector=serial", "barrier=120s"])
    print(f"{instances} instances: began within {metric(got, 'start_spread') * 1e3:.1f} ms and stopped within "
          f"{metric(got, 'stop_spread') * 1e3:.1f} ms of each other; pause {metric(got, 'pause') * 1e3:.0f} ms; controller "
          f"{100 * metric(got, 'controller_busy'):.2f} % of a CPU; {metric(got, 'orders/s'):.0f} orders/s")


def response(rounds, limit):
    """The search for the highest rate that keeps `limit`, and a scan of ten rates around it, in turn."""
    import random

    common = ["peak=1", "heap=512MiB", "collector=parallel", "scored=3s", f"limit={limit}"]
    rng, ratios, middle = random.Random(1), [], None

    def keeps(rate):
        """A rate is broken when two of at most three trials break the limit."""
        verdicts = [0, 0]
        while verdicts[0] < 2 and verdicts[1] < (2 if verdicts[0] else 1):
            # A virtual machine of the search is warm when it comes to its answer.
            notes = record(common + [f"rate={rate:.1f}", "ramp_up=6s"])["notes"]
            verdicts[any(n.startswith("the limit ") and n.endswith(", kept") for n in notes)] += 1
        return verdicts[0] < 2

    for number in range(rounds):
        began = time.monotonic()
        got = record(common + ["search=true", "ramp_up=2s"])
        found, steps = metric(got, "max_rate"), sum(n.startswith("step ") for n in got["notes"])
        took = time.monotonic() - began
        middle = middle or found
        rates = [middle * 1.05 ** (i - 5) for i in range(10)]
        began = time.monotonic()
        kept = {rate: keeps(rate) for rate in rng.sample(rates, len(rates))}
        highest = None
        for rate in rates:
            if not kept[rate]:
                break
            highest = rate
        line = "".join("+" if kept[rate] else "-" for rate in rates)
        print(f"round {number + 1}: search {found:.0f} orders/s in {steps} steps and {took:.0f} s; scan "
              f"{f'{highest:.0f} orders/s' if highest else 'none'} in {time.monotonic() - began:.0f} s "
              f"({rates[0]:.0f} to {rates[-1]:.0f}: {line})", flush=True)
        if highest:
            ratios.append(found / highest)
    if len(ratios) < 2:
        print("ratio of search and scan: unknown; fewer than two rounds have both")
        return
    middle, low, high = ratio(ratios)
    print(f"ratio of search and scan: {middle:.3f} (95 % interval {low:.3f} to {high:.3f}, {len(ratios)} of {rounds} rounds; "
          "a step of the scan is 5 %)")


what = sys.argv[2] if len(sys.argv) > 2 else "all"
if what in ("all", "repeat"):
    repeat(int(sys.argv[3]) if len(sys.argv) > 3 else 10)
if what in ("all", "many"):
    many(int(sys.argv[3]) if what == "many" and len(sys.argv) > 3 else 16)
if what == "response":
    response(int(sys.argv[3]) if len(sys.argv) > 3 else 3, sys.argv[4] if len(sys.argv) > 4 else "p99<=50ms")

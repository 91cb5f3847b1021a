"""The measurements of bench/cpu.sh: see there."""

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

ASSAY = os.path.abspath(sys.argv[1])
WORLD = tempfile.TemporaryDirectory(prefix="assay-bench-cpu-")
KIT = """schema_version = 1
name = "nothing"
version = "1"
help = "ends at once"
[[param]]
name = "size"
type = "choice"
of = ["test", "train", "ref"]
default = "test"
help = "any"
[run]
command = ["/bin/true"]
[[metric]]
name = "elapsed"
unit = "s"
better = "lower"
help = "wall time"
from = "elapsed"
"""
SUITE = """schema_version = 1
name = "nothings"
version = "1"
help = "a program that ends at once"
members = ["nothing"]
[reference]
machine = "none"
date = "2026-11-22"
[reference.times.test]
nothing = 0.001
"""


def run(*arguments):
    """Runs assay; the result, and how long the whole command took."""
    env = dict(os.environ, ASSAY_ARCHIVE=f"{WORLD.name}/archive", ASSAY_STATE=f"{WORLD.name}/state",
               ASSAY_SCRATCH=WORLD.name)
    began = time.monotonic()
    done = subprocess.run([ASSAY, "run", *arguments, "--monitors", "none", "--json"], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    took = time.monotonic() - began
    if done.returncode != 0:
        sys.exit(f"the run failed: {done.stderr[-600:]}")
    return json.loads(done.stdout), took


def metric(record, name):
    return next(m["value"] for m in record["metrics"] if m["name"] == name)


def quantiles(values, unit=1e3):
    values = sorted(values)
    return f"median {statistics.median(values) * unit:.2f} ms, largest {values[-1] * unit:.2f} ms of {len(values)}"


def copies(blocks):
    suite = f"{WORLD.name}/nothings"
    os.makedirs(f"{suite}/nothing")
    for name, text in [("suite.toml", SUITE), ("nothing/kit.toml", KIT)]:
        with open(f"{suite}/{name}", "w") as file:
            file.write(text)
    with open(f"{suite}/own.toml", "w") as file:
        file.write('schema_version = 1\nhelp = "none"\ncompilers = { c = "cc", cxx = "c++", fortran = "gfortran" }\n'
                   'base = { all = "" }\npeak = { all = "" }\n')
    for n in (1, 2, 8, 32):
        direct = []
        for _ in range(blocks):
            began = time.monotonic()
            os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
            direct.append(time.monotonic() - began)
        result, _ = run(suite, "--set", "kind=rate", "--set", f"copies={n}", "--set", "size=test", "--set",
                        f"toolchain={suite}/own.toml", "--blocks", str(blocks))
        records = [r for r in result["records"] if r["outcome"] == "completed"]
        # What is not the programs' own time, shared by the copies; a program that ends at once takes what a direct
        # start of it takes.
        cost = [(r["resources"]["wall_s"] - statistics.median(direct)) / n for r in records]
        within = [metric(r, "elapsed") for r in records]
        print(f"{n} copies: cost of a copy besides its program: {quantiles(cost)}")
        print(f"  time reported for /bin/true: {quantiles(within)}; started directly: {quantiles(direct)}")
        print(f"  begun within: {quantiles([metric(r, 'start_spread') for r in records])}")


def rebuild():
    run("cpu-int", "--set", "size=test", "--blocks", "1")
    for member in ("lua", "sqlite", "xz"):
        result, took = run("cpu-int", "--set", "size=test", "--set", f"member={member}", "--blocks", "1")
        program = metric(result["records"][0], "elapsed")
        print(f"{member}, nothing changed: the whole command {took:.3f} s, of which the program {program:.3f} s")


def repeat(runs, suite):
    means = []
    for _ in range(runs):
        result, took = run(suite, "--set", "size=train", "--blocks", "3")
        means.append(result["analysis"]["suite"]["scores"][0]["geomean"])
        print(f"  {suite}: geometric mean {means[-1]:.4f}, {took:.0f} s", flush=True)
    logs = [math.log(m) for m in means]
    steps = [abs(a - b) for a, b in zip(logs, logs[1:])]
    print(f"{suite}, {runs} runs of size train and three blocks: coefficient of variation {100 * statistics.stdev(logs):.2f} %, "
          f"largest step from one run to the next {100 * max(steps):.2f} %")
    floor = subprocess.run([ASSAY, "doctor", "--aa", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           env=dict(os.environ, ASSAY_ARCHIVE=f"{WORLD.name}/archive", ASSAY_STATE=f"{WORLD.name}/state"))
    print(f"A/A floor: {floor.stdout.strip()[-400:]}")


what = sys.argv[2] if len(sys.argv) > 2 else "all"
if what in ("all", "copies"):
    copies(int(sys.argv[3]) if what == "copies" and len(sys.argv) > 3 else 20)
if what in ("all", "rebuild"):
    rebuild()
if what in ("all", "repeat"):
    own = sys.argv[3:] if what == "repeat" else []
    repeat(int(own[0]) if own else 5, own[1] if len(own) > 1 else "cpu-int")

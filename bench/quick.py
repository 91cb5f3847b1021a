"""The goals as a table: assay's figure divided by its peer's, with a 95 % interval, *ahead*, *level* or *behind*.

quick.py ASSAY EXAMPLES FOLDER CSV ROUNDS: see bench/quick.sh. A goal is the ratio that assay should not exceed.
*ahead*: the whole interval is below it; *behind*: above it; *level*: it lies within.
"""

import csv
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "memcached"))
import peers  # noqa: E402
from pairs import ratio  # noqa: E402
from server import Server, command  # noqa: E402

ASSAY, EXAMPLES, FOLDER, KEPT, ROUNDS = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), *sys.argv[3:5], int(sys.argv[5])
ENV = {**os.environ, "ASSAY_ARCHIVE": f"{FOLDER}/own", "NO_COLOR": "1", "POLARS_MAX_THREADS": "1"}
SQL = ("SELECT device, operation, floor(log2(bytes)), floor(log2(latency_ns // 1000)), count(*), sum(bytes) "
       "FROM read_parquet('{}') GROUP BY ALL")
DUCKDB = "import duckdb, sys; duckdb.connect(config={'threads': 1}).execute(sys.argv[1]).fetchall()"
POLARS = """import polars as pl, sys
log = lambda c: c.log(2).floor()
pl.scan_parquet(sys.argv[1]).group_by('device', 'operation', log(pl.col('bytes')).alias('s'),
    log(pl.col('latency_ns') // 1000).alias('l')).agg(pl.len(), pl.col('bytes').sum().alias('b')).collect(engine='streaming')"""


def ran(*argv):
    """CPU seconds and wall seconds of a command that must succeed."""
    began = time.perf_counter()
    child = subprocess.Popen([str(a) for a in argv], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENV, cwd=FOLDER)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{argv[0]} ended with {status}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - began


def cpu(*argv):
    return lambda: ran(*argv)[0]


def wall(*argv):
    return lambda: ran(*argv)[1]


def own(runs, *program):
    """`assay run` of so many trials, and hyperfine of so many runs."""
    ours = [ASSAY, "run", "--quiet", "--output", "null", "--blocks", runs, "--", *program]
    return wall(*ours), wall("hyperfine", "-N", "--warmup", "0", "--runs", runs, " ".join(program))


LOADS = 10_000_000


def traces():
    """A recorded trace in the forms that peers read, and accesses of a program for the TLB simulator."""
    # So many that the start of Python, which is in DuckDB's and Polars' time, is a small part.
    ran(EXAMPLES / "generate", "msr", 4_000_000, f"{FOLDER}/m.csv")
    ran(EXAMPLES / "ask", f"{FOLDER}/m.csv", 1, "histograms", f"{FOLDER}/io.parquet")
    ran(EXAMPLES / "generate", "blktrace", 300_000, f"{FOLDER}/b", 2)
    ran(EXAMPLES / "speed", "--make", "random", LOADS, f"{FOLDER}/random.trace")


def has(name):
    return bool(shutil.which(name)) or importlib.util.find_spec(name) is not None


def rows():
    """Name, goal, what is needed, and what measures assay and the other."""
    ask, parquet = EXAMPLES / "ask", f"{FOLDER}/io.parquet"
    yield "own time on `true`, 2,000 trials / hyperfine -N", 1.02, ["hyperfine"], lambda: own(2000, "true")
    yield "own time on 10 ms, 100 trials / hyperfine -N", 1.02, ["hyperfine"], lambda: own(100, "sleep", "0.01")
    yield "start, `--version` / hyperfine", 1.0, ["hyperfine"], lambda: (wall(ASSAY, "--version"), wall("hyperfine", "--version"))
    yield "Parquet trace, CPU / DuckDB", 1.0, ["duckdb"], lambda: (
        cpu(ask, parquet, 1), cpu(sys.executable, "-c", DUCKDB, SQL.format(parquet)))
    yield "Parquet trace, CPU / Polars", 1.0, ["polars"], lambda: (cpu(ask, parquet, 1), cpu(sys.executable, "-c", POLARS, parquet))
    yield "Parquet trace, CPU of 2 threads / 1", 1.1, [], lambda: (cpu(ask, parquet, 2), cpu(ask, parquet, 1))
    yield "blktrace, CPU of 2 threads / 1", 1.1, [], lambda: (cpu(ask, f"{FOLDER}/b", 2), cpu(ask, f"{FOLDER}/b", 1))
    yield "blktrace, CPU / blkparse and btt", 1.0, ["blkparse", "btt"], lambda: (
        cpu(ask, f"{FOLDER}/b", 1), cpu("sh", "-c", "blkparse -q -O -i b -d dump > /dev/null && btt -i dump -o btt"))
    yield "TLB simulation of random loads, CPU per access / 10 ns (100 million per second)", 1.0, [], lambda: (
        cpu(EXAMPLES / "speed", "two-level-tsb", f"{FOLDER}/random.trace"), lambda: LOADS * 10e-9)
    for depth, protocol, goal in ((1, "text", 1.1), (64, "text", 1.2), (64, "meta", 1.5)):
        what = f"memcached, depth {depth}, {protocol}, CPU per operation / a client that keeps no records"
        yield what, goal, ["memcached"], lambda depth=depth, protocol=protocol: (
            lambda: peers.ours(EXAMPLES, SERVER, 0.5, depth, 100, protocol)[1],
            lambda: peers.floor(EXAMPLES, SERVER, 0.5, depth, 100, "yes" if depth > 1 else "no", protocol)[1])


def judged(goal, low, high):
    return "ahead" if high <= goal else "behind" if low > goal else "level"


def keep(found):
    """Adds a line of this run; names that an earlier version did not know become columns."""
    old = list(csv.DictReader(open(KEPT))) if os.path.exists(KEPT) else []
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=HERE, capture_output=True, text=True)
    line = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "revision": commit.stdout.strip() or "unknown", **found}
    names = list(dict.fromkeys(name for row in [*old, line] for name in row))
    with open(f"{KEPT}.tmp", "w", newline="") as out:
        writer = csv.DictWriter(out, names)
        writer.writeheader()
        writer.writerows([*old, line])
    os.replace(f"{KEPT}.tmp", KEPT)


traces()
SERVER = Server() if has("memcached") else None
if SERVER:
    SERVER.__enter__()
    command([EXAMPLES / "memload", f"tcp={SERVER.address}", "steady=0.1", "ramp=0", "value=100"])
try:
    print("| what, as a ratio | goal, at most | measured (95 %) | |\n|---|---|---|---|", flush=True)
    found = {}
    for name, goal, needs, sides in rows():
        if os.environ.get("ONLY", "") not in name:
            continue
        missing = [need for need in needs if not has(need)]
        if missing:
            print(f"| {name} | {goal} | | absent: {', '.join(missing)} |", flush=True)
            continue
        ours, other = sides()
        ratios = []
        for round_ in range(ROUNDS):
            both = [ours, other] if round_ % 2 == 0 else [other, ours]
            figures = {side: side() for side in both}
            ratios.append(figures[ours] / figures[other])
        middle, low, high = ratio(ratios)
        found[name] = f"{middle:.4f}"
        print(f"| {name} | {goal} | {middle:.2f} ({low:.2f}..{high:.2f}) | {judged(goal, low, high)} |", flush=True)
finally:
    if SERVER:
        SERVER.__exit__(None, None, None)
print("\nNot here, since they need minutes or root: every I/O kept in Parquet live (bench/io-observer.sh), the build and 10,000"
      " runs (bench/archive.sh).")
keep(found)

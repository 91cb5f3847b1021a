"""CPU time of the client for an operation, while the server is the limit: ours, the floor, peers."""

import re
import shutil
import statistics
import tempfile
import time

from server import CLIENT_CPU, Server, command, fields

CONNECTIONS = 64


def ours(examples, server, seconds, depth, value, protocol):
    words = [examples / "memload", f"tcp={server.address}", f"cpus={CLIENT_CPU}", "preload=no",
             f"connections={CONNECTIONS}", f"depth={depth}", f"protocol={protocol}", "ramp=0.5",
             f"steady={seconds}", *([f"value={value}"] if value else [])]
    f = fields(command(words)[0])
    if int(f["errors"]) or int(f["evicted"]):
        raise SystemExit(f"memload saw errors: {f}")
    return float(f["throughput"]), float(f["cpu_us"]), float(f["busy"])


def floor(examples, server, seconds, depth, value, mark, protocol="meta"):
    words = [examples / "floor", f"tcp={server.address}", f"connections={CONNECTIONS}",
             f"depth={depth}", f"mark={mark}", f"protocol={protocol}", f"steady={seconds}",
             *([f"value={value}"] if value else [])]
    f = fields(command(words)[0])
    return float(f["throughput"]), float(f["cpu_us"]), float(f["busy"])


def memaslap(program, server, seconds, multiget):
    # Keys of 16 bytes, values of 100, 90 % gets; a window of 1,000 keys for each connection.
    with tempfile.NamedTemporaryFile("w") as plan:
        plan.write("key\n16 16 1\nvalue\n100 100 1\ncmd\n0 0.1\n1 0.9\n")
        plan.flush()
        words = [program, f"--servers={server.address}", "--threads=1", f"--concurrency={CONNECTIONS}",
                 f"--time={seconds}s", "--win_size=1k", f"--cfg_cmd={plan.name}",
                 *([f"--division={multiget}"] if multiget else [])]
        out, cpu, wall = command(words)
    operations = int(re.search(r"Ops: (\d+)", out)[1])
    return operations / seconds, cpu * 1e6 / operations, cpu / wall


def memtier(program, server, seconds, depth, value):
    words = [program, "-s", "127.0.0.1", "-p", server.port, "-P", "memcache_text", "-t", 1, "-c",
             CONNECTIONS, f"--pipeline={depth}", "--ratio=1:9", f"--test-time={seconds}",
             "--hide-histogram", f"--data-size={value}", "--key-maximum=100000"]
    out, cpu, wall = command(words)
    rate = float(re.search(r"^Totals\s+([\d.]+)", out, re.M)[1])
    return rate, cpu * 1e6 / (rate * seconds), cpu / wall


def clients(examples, seconds):
    """(depth, values) → name → how to run it; and what is absent."""
    def of_ours(*arguments):
        return lambda server: ours(examples, server, seconds, *arguments)

    def of_floor(*arguments):
        return lambda server: floor(examples, server, seconds, *arguments)

    groups = {
        (1, "100 B"): {"floor, text": of_floor(1, 100, "no"), "assay, text": of_ours(1, 100, "text"),
                       "assay, meta": of_ours(1, 100, "meta")},
        (64, "100 B"): {"floor, meta with mark": of_floor(64, 100, "yes"),
                        "floor, meta": of_floor(64, 100, "no"),
                        "assay, meta": of_ours(64, 100, "meta"),
                        "floor, text with mark": of_floor(64, 100, "yes", "text"),
                        "assay, text": of_ours(64, 100, "text")},
        (1, "mix"): {"floor, text": of_floor(1, None, "no"), "assay, text": of_ours(1, None, "text")},
    }
    absent = []
    slap = shutil.which("memcaslap") or shutil.which("memaslap")
    if slap:
        groups[1, "100 B"]["memaslap"] = lambda s: memaslap(slap, s, round(seconds), 0)
        groups[64, "100 B"]["memaslap, multiget"] = lambda s: memaslap(slap, s, round(seconds), 64)
    else:
        absent.append("memaslap (Debian package libmemcached-tools)")
    tier = shutil.which("memtier_benchmark")
    if tier:
        for depth in (1, 64):
            groups[depth, "100 B"]["memtier_benchmark"] = (
                lambda s, depth=depth: memtier(tier, s, round(seconds), depth, 100))
    else:
        absent.append("memtier_benchmark (https://github.com/RedisLabs/memtier_benchmark)")
    return groups, absent


def spread(values, digits):
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}..{max(values):.{digits}f})"


def main(examples, rounds=5, seconds=3.0):
    groups, absent = clients(examples, seconds)
    for name in absent:
        print(f"absent: {name}")
    print("\n| depth | values | client | kops/s | CPU, µs an operation | busy: client, server | CPU / floor |")
    print("|---|---|---|---|---|---|---|")
    for (depth, values), group in groups.items():
        results = {name: [] for name in group}
        with Server() as server:
            load = [examples / "memload", f"tcp={server.address}", "steady=0.1", "ramp=0"]
            command(load + (["value=100"] if values == "100 B" else []))
            order = list(group)
            for i in range(rounds):
                # Each round begins with another client.
                for name in order[i % len(order):] + order[:i % len(order)]:
                    before, begun = server.cpu_s(), time.monotonic()
                    rate, cpu, busy = group[name](server)
                    used = (server.cpu_s() - before) / (time.monotonic() - begun)
                    results[name].append((rate, cpu, busy, used))
        floors = [r[1] for r in results[next(iter(group))]]
        for name, rows in results.items():
            ratios = [r[1] / f for r, f in zip(rows, floors)]
            print(f"| {depth} | {values} | {name} | {spread([r[0] / 1e3 for r in rows], 0)} "
                  f"| {spread([r[1] for r in rows], 3)} "
                  f"| {statistics.median(r[2] for r in rows):.2f}, "
                  f"{statistics.median(r[3] for r in rows):.2f} | {spread(ratios, 2)} |", flush=True)

"""10,000 connections on one core of the client."""

from server import CLIENT_CPU, Server, command, fields


def main(examples):
    print("\n| connections | kops/s | CPU, µs an operation | busy | p50, ms | p99, ms | errors |")
    print("|---|---|---|---|---|---|---|")
    for connections in (64, 1000, 10_000):
        with Server() as server:
            words = [examples / "memload", f"tcp={server.address}", f"cpus={CLIENT_CPU}", "value=100",
                     f"connections={connections}", "ramp=2", "steady=5", f"pid={server.pid}"]
            f = fields(command(words)[0])
        print(f"| {connections} | {float(f['throughput']) / 1e3:.0f} | {f['cpu_us']} | {f['busy']} "
              f"| {float(f['p50_ns']) / 1e6:.2f} | {float(f['p99_ns']) / 1e6:.2f} | {f['errors']} |", flush=True)

"""A server that is stopped for 100 ms once a second: what open and closed loop say of it, and the truth.

The truth is computed from the schedule alone: operations are due at equal distances, and one that was
due while the server was stopped could be answered at the end of the stop at the soonest.
"""

import os
import signal
import subprocess
import threading
import time

from server import CLIENT_CPU, Server, command, fields

RATE = 10_000
STALL = 0.1


class Stopper(threading.Thread):
    """Stops the server once a second; keeps when, in ns of the monotonic clock."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.stops, self.going = pid, [], True

    def run(self):
        while self.going:
            time.sleep(1 - STALL)
            begun = time.monotonic_ns()
            os.kill(self.pid, signal.SIGSTOP)
            time.sleep(STALL)
            os.kill(self.pid, signal.SIGCONT)
            self.stops.append((begun, time.monotonic_ns()))


def truth(start, window, stops, quantile):
    """The quantile of the time that operations due in the window had to wait for the server, ns."""
    gap = 1e9 / RATE
    waits, k = [], 0
    while (due := start + k * gap) < window[1]:
        if due >= window[0]:
            waits.append(max((end - due for begun, end in stops if begun <= due < end), default=0))
        k += 1
    waits.sort()
    return waits[min(len(waits) - 1, int(quantile * len(waits)))]


def measure(examples, seconds, loop):
    with Server() as server:
        words = [examples / "memload", f"tcp={server.address}", "value=100", "keys=100000"]
        command(words + ["steady=0.1", "ramp=0"])
        stopper = Stopper(server.pid)
        stopper.start()
        out = subprocess.run(
            [str(w) for w in words] + [f"cpus={CLIENT_CPU}", "preload=no", "ramp=1", "connections=64",
                                       f"steady={seconds}", *loop],
            check=True, capture_output=True, text=True).stdout
        stopper.going = False
        stopper.join()
        return fields(out), stopper.stops


def main(examples, seconds=20):
    print(f"\n{RATE} operations/s, a stop of {STALL * 1e3:.0f} ms once a second, {seconds} s\n")
    print("| loop | p99, ms | truth | off by | p99.9, ms | truth | off by | operations |")
    print("|---|---|---|---|---|---|---|---|")
    closed = None
    for name, loop in [("open", [f"rate={RATE}"]),
                       ("open, depth 16", [f"rate={RATE}", "depth=16"]),
                       ("closed, no think time", []),
                       ("closed, think time for the same rate", [f"think_us={64 * 10**6 // RATE}"])]:
        f, stops = measure(examples, seconds, loop)
        window = tuple(int(x) for x in f["window_ns"].split(".."))
        row = [name]
        for quantile, key in [(0.99, "p99_ns"), (0.999, "p999_ns")]:
            right = truth(int(f["start_ns"]), window, stops, quantile)
            reported = float(f[key])
            row += [f"{reported / 1e6:.2f}", f"{right / 1e6:.2f}", f"{(reported / right - 1) * 100:+.1f} %"]
        print("| " + " | ".join(row + [f["ops"]]) + " |", flush=True)

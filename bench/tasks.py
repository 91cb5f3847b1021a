"""The CPU time of watching 200 processes once a second: assay stat --tasks beside pidstat, of exactly these, and of the machine."""

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

from pairs import interval


def of(parent):
    """The children of a process."""
    with open(f"/proc/{parent}/task/{parent}/children") as children:
        return children.read().split()


def main():
    assay, rounds, seconds = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    # One parent and its 199 children.
    line = "for i in $(seq 199); do sleep 1000000 & done; wait"
    parent = subprocess.Popen(["sh", "-c", line], start_new_session=True)
    while len(of(parent.pid)) < 199:
        time.sleep(0.01)
    pids = [parent.pid, *of(parent.pid)]
    asked = {
        "assay stat --tasks --pid": [assay, "stat", "--tasks", "--busiest", "200", "--pid", str(parent.pid), "-n", seconds],
        "assay, its threads too": [assay, "stat", "--tasks", "--threads", "--busiest", "200", "--pid", str(parent.pid), "-n", seconds],
        "assay, the machine": [assay, "stat", "--tasks", "-n", seconds],
    }
    if shutil.which("pidstat"):
        # The same columns: CPU, faults and memory, I/O, switches; idle tasks too.
        each = ",".join(map(str, pids))
        asked["pidstat -urdw -p PIDS"] = ["pidstat", "-urdw", "-p", each, "1", seconds]
        asked["pidstat, the machine"] = ["pidstat", "-urdw", "-p", "ALL", "1", seconds]
    else:
        print("skipped: because pidstat is not installed")
    used = {what: [] for what in asked}
    there = sum(1 for name in os.listdir("/proc") if name.isdigit())
    try:
        for at in range(rounds):
            for what in random.sample(list(asked), len(asked)):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run(asked[what], check=True, stdout=subprocess.DEVNULL)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
                used[what].append(100 * cpu / float(seconds))
            print(f"round {at + 1} of {rounds}", file=sys.stderr)
    finally:
        os.killpg(parent.pid, signal.SIGKILL)
        parent.wait()
    print(f"200 processes, {there} on the machine, load average {os.getloadavg()[0]:.1f}; % of one CPU, 95 % interval")
    for what, values in used.items():
        mean, low, high = interval(values)
        if len(values) < 3:
            print(f"{what:24} {mean:.2f} (too few rounds for an interval)")
            continue
        print(f"{what:24} {mean:.2f} [{low:.2f}, {high:.2f}] n={len(values)}")


if __name__ == "__main__":
    main()

"""What sampling takes from programs, by what these see of it.

Throughput varies by more than sampling costs: processors change their clock, and a virtual machine's are shared. So here a thread on
each CPU does nothing but read the clock, and adds up the gaps between two readings: everything that takes the CPU from it, interrupts,
samples, and the profiler's own process, since no CPU is idle. Windows with a profiler lie between windows without; the cost is
the share of time in gaps with it less the mean of the two shares beside. What a sample leaves behind in the caches is not in it, so the throughput of
the same windows (readings of the clock) is compared as well, which is less exact.

A gap is longer than 1 us. Gaps above 1 ms, which are the host's or another program's turn, make the interval wide: the second row
of each profiler leaves them out, the first does not.

A second load, `handover`, is for what switches cost: two threads on each CPU hand it over to each other and compute in between, 100,000 times a
second in all, as in profile.py. There throughput is compared, in the same windows: by the clock, and by the CPU time of the load, in which
the probes' part is but nothing else that runs on the machine, so that it can be told beside other work, too.
"""

import atexit
import mmap
import os
import random
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import pairs

# Switches a second of all CPUs together.
HANDOVERS = 100_000

ON = "profile:hz:99 { @a[kstack, ustack, comm] = count(); }"
OFF = "tracepoint:sched:sched_switch { @s[tid] = nsecs; @a[kstack, ustack, comm] = count(); }"

LOAD = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static unsigned long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000ul + t.tv_nsec; }
struct seen { _Alignas(128) volatile unsigned long ns; volatile unsigned long readings, gaps, gap_ns, long_ns; };
static struct seen *seen; static int cpus[256];
static void *look(void *p) {
    long k = (long)p; struct seen *s = seen + k; cpu_set_t set; unsigned long last, t, readings = 0;
    CPU_ZERO(&set); CPU_SET(cpus[k], &set); pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    for (last = now();; last = t) {
        t = now(); readings++;
        if (t - last > 1000) { s->gaps++; *(t - last > 1000000 ? &s->long_ns : &s->gap_ns) += t - last; }
        if (!(readings & 255)) { s->readings = readings; s->ns = t; }
    }
}
static struct { _Alignas(128) int turn; } turns[256];
static int computes;
__attribute__((noinline)) unsigned work(unsigned x, int n) { for (int i = 0; i < n; i++) x = x * 7 + i; return x; }
static void *take_turns(void *p) {
    long k = (long)p / 2; int me = (long)p % 2, *turn = &turns[k].turn; struct seen *s = seen + k; cpu_set_t set; unsigned x = 1; unsigned long n = 0;
    CPU_ZERO(&set); CPU_SET(cpus[k], &set); pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    for (;;) {
        while (__atomic_load_n(turn, __ATOMIC_ACQUIRE) != me) syscall(SYS_futex, turn, FUTEX_WAIT_PRIVATE, !me, 0, 0, 0);
        x = work(x, computes); n++;
        if (!me && !(n & 15)) { s->readings = 2 * n + (x == 12345); s->ns = now(); }
        __atomic_store_n(turn, !me, __ATOMIC_RELEASE);
        syscall(SYS_futex, turn, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
    }
}
int main(int c, char **v) {
    cpu_set_t set; pthread_t t; long k = 0;
    if (c > 2) computes = atoi(v[2]);
    sched_getaffinity(0, sizeof set, &set);
    int file = open(v[1], O_RDWR);
    seen = mmap(0, 4096 * 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    for (int cpu = 0; cpu < CPU_SETSIZE && k < 256; cpu++) if (CPU_ISSET(cpu, &set)) {
        cpus[k] = cpu;
        if (c == 2) pthread_create(&t, 0, look, (void *)k);
        else for (long me = 0; me < 2; me++) pthread_create(&t, 0, take_turns, (void *)(2 * k + me));
        k++;
    }
    pause();
}
"""


def main():
    # So that what it has started ends with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    assay, rounds, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    folder = tempfile.mkdtemp(prefix="assay-bench-profile-cost-")
    atexit.register(shutil.rmtree, folder)
    path, shared, data = (os.path.join(folder, name) for name in ("load", "seen", "perf.data"))
    with open(path + ".c", "w") as file:
        file.write(LOAD)
    subprocess.run(["cc", "-O2", "-fno-omit-frame-pointer", "-w", "-pthread", "-o", path, path + ".c"], check=True)
    with open(shared, "wb") as file:
        file.truncate(4096 * 8)
    cpus = len(os.sched_getaffinity(0))
    with open(shared, "r+b") as file:
        memory = mmap.mmap(file.fileno(), 0)

    def read():
        """Time, readings, gaps, their time, and the time of the long ones, of all threads."""
        return [sum(column) for column in zip(*(struct.unpack_from("5Q", memory, 128 * k) for k in range(cpus)))]

    def cpu_ns(pid):
        """The CPU time of all threads."""
        total = 0
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                total += int(file.read().split()[0])
        return total

    def window(pid, seconds=seconds):
        """Shares of the time in all gaps and in those that are not long, gaps a second and CPU, readings a second and CPU, and a second of CPU time."""
        before, cpu = read(), cpu_ns(pid)
        time.sleep(seconds)
        ns, readings, gaps, gap_ns, long_ns = (b - a for a, b in zip(before, read()))
        return (gap_ns + long_ns) / ns, gap_ns / ns, gaps / ns * 1e9, readings / ns * 1e9, readings / (cpu_ns(pid) - cpu) * 1e9

    def started(*arguments):
        memory[:] = bytes(len(memory))
        load = subprocess.Popen([path, shared, *arguments])
        time.sleep(1)
        return load

    def ended(load):
        load.kill()
        load.wait()

    def between():
        """How much the threads of `handover` compute in between, so that they switch as often as asked."""
        took = {}
        for n in (0, 10_000):
            load = started(str(n))
            took[n] = 1 / (cpus * window(load.pid, 0.5)[4])
            ended(load)
        return str(max(0, round((1 / HANDOVERS - took[0]) / (took[10_000] - took[0]) * 10_000)))

    def profilers(load, pid):
        """Names and commands; a name ends with what it watches."""
        asked = [("nothing (control)", ["sleep", "1000"])]
        if load == "spin":
            asked += [
                ("assay, on CPU", [assay, "profile", "--on-cpu", "--pid", pid]),
                ("assay, on CPU, all by DWARF", [assay, "profile", "--on-cpu", "--unwind", "dwarf", "--pid", pid]),
            ]
        asked.append(("assay, on and off CPU", [assay, "profile", "--pid", pid]))
        if shutil.which("perf"):
            record = ["perf", "record", "-q", "-o", data, "-p", pid]
            asked += [
                ("perf record -g", [*record, "-g", "-e", "cpu-clock", "-F", "99"]),
                ("perf record --call-graph dwarf", [*record, "--call-graph", "dwarf", "-e", "cpu-clock", "-F", "99"]),
            ] if load == "spin" else [("perf record -g of every switch", [*record, "-g", "-e", "sched:sched_switch"])]
        else:
            print("skipped: because perf is not installed")
        if shutil.which("bpftrace"):
            asked.append(("bpftrace", ["bpftrace", "-e", ON]) if load == "spin" else ("bpftrace at every switch", ["bpftrace", "-e", OFF]))
        else:
            print("skipped: because bpftrace is not installed")
        words = os.environ.get("ONLY", "").split(",")
        return [row for row in asked if any(word in f"{load} {row[0]}" for word in words)]

    def measure(name, load):
        asked = profilers(name, str(load.pid))
        found, quiet = {what: [] for what, _ in asked}, []
        for at in range(rounds if asked else 0):
            before = window(load.pid)
            for what, command in random.sample(asked, len(asked)):
                profiler = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                try:
                    # Until its probes are there and it has read what it reads first.
                    time.sleep(2)
                    if profiler.poll() is not None:
                        raise RuntimeError(f"{command[0]} ended at once")
                    middle = window(load.pid)
                    profiler.send_signal(signal.SIGTERM if command[0] == "sleep" else signal.SIGINT)
                    profiler.wait()
                finally:
                    profiler.kill()
                time.sleep(0.5)
                after = window(load.pid)
                beside = [(a + b) / 2 for a, b in zip(before, after)]
                quiet.append(beside)
                found[what].append([*(100 * (m - b) for m, b in zip(middle[:2], beside)), middle[2] - beside[2], *(100 * (1 - m / b) for m, b in zip(middle[3:], beside[3:]))])
                before = after
            print(f"{name}: round {at + 1} of {rounds}", file=sys.stderr)
        if not quiet:
            return
        every, less, gaps, readings, _ = (statistics.fmean(column) for column in zip(*quiet))
        if name == "spin":
            print(f"spin without a profiler: {100 * every:.2f} % of the time in gaps ({100 * less:.2f} % without those above 1 ms), {gaps:.0f} a second and CPU; {1e9 / readings:.0f} ns a reading")
        else:
            print(f"handover without a profiler: {cpus * readings:,.0f} switches a second of all CPUs")
        names = ("by gaps", "by gaps up to 1 ms", "gaps a second and CPU", "by throughput", "by CPU time")
        for what, rows in found.items():
            for of, values in list(zip(names, zip(*rows)))[slice(0 if name == "spin" else 3, 5)]:
                mean, low, high = pairs.interval(values)
                print(f"{name:8} {what:32} {of:22} {mean:.3f} [{low:.3f}, {high:.3f}] n={len(values)}")

    print("cost in % of the CPUs' time, or of throughput, mean and 95 % interval")
    for name in ("spin", "handover"):
        load = started(*([between()] if name == "handover" else []))
        try:
            measure(name, load)
        finally:
            ended(load)
    print(f"load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()

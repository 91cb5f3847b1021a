"""What profiling costs: throughput with a profiler over throughput without, pairs interleaved in random
order, the geometric mean of the ratios with its 95 % interval.

Three loads: `spin` keeps every CPU busy (99 Hz on CPU); `handover` has two threads on each CPU that hand the CPU over to
each other and compute in between, 100,000 times a second in all (off CPU): the one that is woken is ready before the other
sleeps, so no CPU idles and no switch waits for one to wake; `switch` passes a byte to another process and back and
does nothing else. Profilers look at the whole machine or at the command, as each can.

And whether nothing is lost: threads that compute, sleep, and do both in turn; the time on CPU (the scheduler's, and as
sampled) and off CPU that the profile has of each, over the time that the thread itself measured.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pairs

SPIN = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static double end;
__attribute__((noinline)) unsigned work(unsigned x) { for (int i = 0; i < 20000; i++) x = x * 7 + i; return x; }
static void *spin(void *p) { unsigned x = 1; long n = 0; while (now() < end) { x = work(x); n++; } *(long *)p = n + (x == 12345); return 0; }
int main(int c, char **v) {
    int k = atoi(v[2]); long n[256]; pthread_t t[256]; long all = 0; double began = now();
    end = began + atof(v[1]);
    for (int i = 0; i < k; i++) pthread_create(&t[i], 0, spin, &n[i]);
    for (int i = 0; i < k; i++) { pthread_join(t[i], 0); all += n[i]; }
    printf("%f\n", all / (now() - began));
}
"""

SWITCH = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sys/wait.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
int main(int c, char **v) {
    int a[2], b[2]; char x = 0; long n = 0; pipe(a); pipe(b);
    if (!fork()) { close(a[1]); close(b[0]); while (read(a[0], &x, 1) == 1) if (write(b[1], &x, 1) != 1) break; _exit(0); }
    close(a[0]); close(b[1]);
    double began = now(), end = began + atof(v[1]), pause = atof(v[2]);
    while (now() < end) {
        if (write(a[1], &x, 1) != 1 || read(b[0], &x, 1) != 1) break;
        n++;
        if (pause > 0) { double until = now() + pause; while (now() < until) {} }
    }
    double took = now() - began; close(a[1]); wait(0);
    printf("%f\n", n / took);
}
"""

HANDOVER = r"""
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static struct pair { _Alignas(128) int turn; int cpu; long n; } pairs[256];
static int computes; static volatile int over;
__attribute__((noinline)) unsigned work(unsigned x, int n) { for (int i = 0; i < n; i++) x = x * 7 + i; return x; }
struct side { struct pair *p; int me; };
static void *take_turns(void *v) {
    struct side *s = v; struct pair *p = s->p; cpu_set_t set; unsigned x = 1;
    CPU_ZERO(&set); CPU_SET(p->cpu, &set); pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    for (;;) {
        while (__atomic_load_n(&p->turn, __ATOMIC_ACQUIRE) != s->me) syscall(SYS_futex, &p->turn, FUTEX_WAIT_PRIVATE, !s->me, 0, 0, 0);
        int last = over;
        if (!last) { x = work(x, computes); p->n++; }
        __atomic_store_n(&p->turn, !s->me, __ATOMIC_RELEASE);
        syscall(SYS_futex, &p->turn, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
        if (last) return (void *)(long)(x == 12345);
    }
}
int main(int c, char **v) {
    cpu_set_t set; int k = 0; pthread_t t[512]; static struct side sides[512]; long all = 0;
    sched_getaffinity(0, sizeof set, &set); computes = atoi(v[2]);
    double began = now();
    for (int cpu = 0; cpu < CPU_SETSIZE && k < 256; cpu++) if (CPU_ISSET(cpu, &set)) {
        pairs[k].cpu = cpu;
        for (int me = 0; me < 2; me++) { sides[2 * k + me] = (struct side){&pairs[k], me}; pthread_create(&t[2 * k + me], 0, take_turns, &sides[2 * k + me]); }
        k++;
    }
    struct timespec nap = {(long)atof(v[1]), (long)((atof(v[1]) - (long)atof(v[1])) * 1e9)}; nanosleep(&nap, 0);
    over = 1;
    for (int i = 0; i < 2 * k; i++) pthread_join(t[i], 0);
    double took = now() - began;
    for (int i = 0; i < k; i++) all += pairs[i].n;
    printf("%f\n", all / took);
}
"""

LIVES = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static const char *names[] = {"computes", "sleeps", "in-turn"};
static double seconds, lived[3];
static void spin(double s) { double end = now() + s; while (now() < end) {} }
static void nap(double s) { struct timespec t = {0, (long)(s * 1e9)}; nanosleep(&t, 0); }
static void *live(void *p) {
    long k = (long)p; double began = now();
    while (now() - began < seconds) { if (k != 1) spin(0.01); if (k != 0) nap(0.01); }
    lived[k] = now() - began; return 0;
}
int main(int c, char **v) {
    pthread_t t[3]; seconds = atof(v[1]);
    // A thread has its creator's name from its first moment on.
    for (long k = 0; k < 3; k++) { pthread_setname_np(pthread_self(), names[k]); pthread_create(&t[k], 0, live, (void *)k); }
    pthread_setname_np(pthread_self(), "lives");
    for (int k = 0; k < 3; k++) pthread_join(t[k], 0);
    for (int k = 0; k < 3; k++) printf("%s %f\n", names[k], lived[k]);
}
"""

LIVED = 5

# Switches a second of all CPUs together.
HANDOVERS = 100_000

OFF = "tracepoint:sched:sched_switch { @s[tid] = nsecs; @a[kstack, ustack, comm] = count(); }"
ON = "profile:hz:99 { @a[kstack, ustack, comm] = count(); }"


def lives(assay, path, folder, seconds):
    """Prints, by thread, the time that the profile has over the time that the thread measured."""
    kept, out = os.path.join(folder, "lives.json"), os.path.join(folder, "lives.out")
    found = {}
    for _ in range(LIVED):
        inner = ["sh", "-c", f'exec "$@" > {out}', "sh", path, seconds]
        subprocess.run([assay, "profile", "-o", kept, "--", *inner], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(kept) as file:
            profile = json.load(file)
        with open(out) as file:
            lived = {name: float(s) for name, s in (line.split() for line in file)}
        for name, wall in lived.items():
            exact = sum(t["ns"] for t in profile["cpu"] if t["thread"] == name)
            of = [s for s in profile["stacks"] if s["thread"] == name]
            sampled = sum(s["ns"] for s in of if s["state"] == "on_cpu")
            off = sum(s["ns"] for s in of if s["state"] != "on_cpu")
            row = found.setdefault(name, ([], []))
            row[0].append((exact + off) / 1e9 / wall)
            row[1].append((sampled + off) / 1e9 / wall)
    print(f"on and off CPU over the time that passed, {seconds} s, load average {os.getloadavg()[0]:.1f}, 95 % interval")
    for name, (exact, sampled) in found.items():
        (a, low, high), (b, least, most) = pairs.interval(exact), pairs.interval(sampled)
        print(f"{name:10} {a:.4f} [{low:.4f}, {high:.4f}] n={LIVED}; with time on CPU as sampled {b:.4f} [{least:.4f}, {most:.4f}]")


def between(path):
    """How much the threads of `handover` compute in between, so that they switch as often as asked."""
    took = {n: 1 / pairs.plain([path, "0.5", str(n)]) for n in (0, 10_000)}
    each = (took[10_000] - took[0]) / 10_000
    n = max(0, round((1 / HANDOVERS - took[0]) / each))
    print(f"handover: {1 / took[0]:,.0f} switches a second without computing; {n} steps in between for {HANDOVERS:,}")
    return str(n)


def main():
    assay, rounds, seconds, minutes = sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
    folder = tempfile.mkdtemp(prefix="assay-bench-profile-")
    cpus = str(len(os.sched_getaffinity(0)))
    loads = {}
    sources = [("spin", SPIN, [seconds, cpus]), ("switch", SWITCH, [seconds, "0"]), ("handover", HANDOVER, [seconds, "0"]), ("lives", LIVES, [])]
    for name, source, arguments in sources:
        path = os.path.join(folder, name)
        with open(path + ".c", "w") as file:
            file.write(source)
        subprocess.run(["cc", "-O2", "-fno-omit-frame-pointer", "-w", "-pthread", "-o", path, path + ".c"], check=True)
        loads[name] = [path, *arguments]
    lives(assay, loads.pop("lives")[0], folder, seconds)
    loads["handover"][2] = between(loads["handover"][0])
    data = os.path.join(folder, "perf.data")
    nothing = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

    def under(command):
        return pairs.under(command, folder)

    def beside(command):
        def run(load):
            tracer = subprocess.Popen(command, **nothing)
            time.sleep(3)
            if tracer.poll() is not None:
                raise RuntimeError(f"{command[0]} ended at once")
            value = pairs.plain(load)
            tracer.send_signal(signal.SIGINT)
            tracer.wait()
            return value
        return run

    asked = [
        ("spin", "assay, on CPU, 99 Hz", under([assay, "profile", "--on-cpu", "--"])),
        ("spin", "assay, on CPU, 99 Hz, all by DWARF", under([assay, "profile", "--on-cpu", "--unwind", "dwarf", "--"])),
        ("spin", "assay, on and off CPU, 99 Hz", under([assay, "profile", "--"])),
        ("handover", "assay, on and off CPU, 99 Hz", under([assay, "profile", "--"])),
        ("switch", "assay, on and off CPU, 99 Hz", under([assay, "profile", "--"])),
    ]
    if shutil.which("perf"):
        asked += [
            ("spin", "perf record -g, 99 Hz", under(["perf", "record", "-q", "-g", "-e", "cpu-clock", "-F", "99", "-o", data, "--"])),
            ("spin", "perf record --call-graph dwarf, 99 Hz", under(["perf", "record", "-q", "--call-graph", "dwarf", "-e", "cpu-clock", "-F", "99", "-o", data, "--"])),
        ]
        switches = under(["perf", "record", "-q", "-g", "-e", "sched:sched_switch", "-o", data, "--"])
        asked += [(load, "perf record -g of every switch", switches) for load in ("handover", "switch")]
    else:
        print("skipped: because perf is not installed")
    if shutil.which("bpftrace"):
        asked += [("spin", "bpftrace, 99 Hz", beside(["bpftrace", "-e", ON])), ("handover", "bpftrace at every switch", beside(["bpftrace", "-e", OFF]))]
    else:
        print("skipped: because bpftrace is not installed")

    pairs.compare(loads, asked, rounds, "a second", minutes)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()

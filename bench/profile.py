"""What profiling costs: throughput with a profiler over throughput without, pairs interleaved in random
order, the geometric mean of the ratios with its 95 % interval.

Two loads: `spin` keeps every CPU busy (99 Hz on CPU); `switch` passes a byte between two processes, which
is two switches each way (off CPU). Profilers look at the whole machine or at the command, as each can.
"""

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
    double began = now(), end = began + atof(v[1]);
    while (now() < end) { if (write(a[1], &x, 1) != 1 || read(b[0], &x, 1) != 1) break; n++; }
    double took = now() - began; close(a[1]); wait(0);
    printf("%f\n", n / took);
}
"""

OFF = "tracepoint:sched:sched_switch { @s[tid] = nsecs; @a[kstack, ustack, comm] = count(); }"
ON = "profile:hz:99 { @a[kstack, ustack, comm] = count(); }"


def main():
    assay, rounds, seconds = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    folder = tempfile.mkdtemp(prefix="assay-bench-profile-")
    cpus = str(len(os.sched_getaffinity(0)))
    loads = {}
    for name, source, arguments in [("spin", SPIN, [seconds, cpus]), ("switch", SWITCH, [seconds])]:
        path = os.path.join(folder, name)
        with open(path + ".c", "w") as file:
            file.write(source)
        subprocess.run(["cc", "-O2", "-fno-omit-frame-pointer", "-w", "-pthread", "-o", path, path + ".c"], check=True)
        loads[name] = [path, *arguments]
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
        ("spin", "assay, on and off CPU, 99 Hz", under([assay, "profile", "--"])),
        ("switch", "assay, on and off CPU, 99 Hz", under([assay, "profile", "--"])),
    ]
    if shutil.which("perf"):
        asked += [
            ("spin", "perf record -g, 99 Hz", under(["perf", "record", "-q", "-g", "-e", "cpu-clock", "-F", "99", "-o", data, "--"])),
            ("switch", "perf record -g of every switch", under(["perf", "record", "-q", "-g", "-e", "sched:sched_switch", "-o", data, "--"])),
        ]
    else:
        print("skipped: because perf is not installed")
    if shutil.which("bpftrace"):
        asked += [("spin", "bpftrace, 99 Hz", beside(["bpftrace", "-e", ON])), ("switch", "bpftrace at every switch", beside(["bpftrace", "-e", OFF]))]
    else:
        print("skipped: because bpftrace is not installed")

    pairs.compare(loads, asked, rounds, "a second")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()

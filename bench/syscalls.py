"""What counting system calls costs: throughput while they are counted over throughput alone, pairs interleaved in
random order, the geometric mean of the ratios with its 95 % interval, and what that is a call.

The floor of every exact count by the kernel's tracepoints is measured beside: probes that do nothing, at the return of calls
alone and at both ends, and probes that do nothing but read the clock, without which there are no times. And what
others pay: the load while the calls of another program, which sleeps, are counted.

Two loads: `paced` makes about 500,000 calls a second and computes in between; `flat` makes nothing but calls. Each reads
4 KiB from /dev/zero. Of each load the calls a second alone are printed: on a slower machine `paced` makes fewer.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pairs

LOAD = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
int main(int c, char **v) {
    static char b[4096]; int f = open("/dev/zero", O_RDONLY); long n = 0; double pace = atof(v[2]);
    double began = now(), end = began + atof(v[1]);
    while (now() < end)
        for (int i = 0; i < 64; i++) {
            if (read(f, b, sizeof b) != sizeof b) return 1;
            n++;
            if (pace > 0) { double until = now() + pace; while (now() < until) {} }
        }
    printf("%f\n", n / (now() - began));
}
"""

# Attaches a probe to each of the tracepoints named, which does nothing ("empty") or reads the clock, while a command runs. "fentry" says
# whether this kernel takes probes at the entry of its functions: one without a function to attach to is no valid program.
FLOOR = r"""
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static int load(int type, int attach, struct bpf_insn *insns, int n, char *log) {
    union bpf_attr a; memset(&a, 0, sizeof a);
    a.prog_type = type; a.expected_attach_type = attach; a.insns = (__u64)insns; a.insn_cnt = n; a.license = (__u64)"GPL";
    a.log_level = 1; a.log_buf = (__u64)log; a.log_size = 4096;
    return syscall(SYS_bpf, BPF_PROG_LOAD, &a, sizeof a);
}
int main(int c, char **v) {
    struct bpf_insn clock[] = {{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_ns}, {.code = BPF_ALU64 | BPF_MOV}, {.code = BPF_JMP | BPF_EXIT}};
    char log[4096] = ""; int at = 2;
    if (c == 2) {
        int r = load(BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, clock + 1, 2, log);
        log[strcspn(log, "\n")] = 0;
        printf("%s%s%s\n", r < 0 ? strerror(errno) : "taken", *log ? ": " : ", and it did not say why", log);
        return 0;
    }
    int empty = !strcmp(v[1], "empty");
    for (; at < c && strcmp(v[at], "--"); at++) {
        union bpf_attr a; memset(&a, 0, sizeof a);
        a.raw_tracepoint.name = (__u64)v[at]; a.raw_tracepoint.prog_fd = load(BPF_PROG_TYPE_RAW_TRACEPOINT, 0, clock + empty, 3 - empty, log);
        if (syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &a, sizeof a) < 0) return perror(v[at]), 1;
    }
    int status = 1;
    if (!fork()) { execvp(v[at + 1], v + at + 1); _exit(127); }
    wait(&status);
    return !!status;
}
"""


def compiled(folder, name, source):
    path = os.path.join(folder, name)
    with open(path + ".c", "w") as file:
        file.write(source)
    subprocess.run(["cc", "-O2", "-w", "-o", path, path + ".c"], check=True)
    return path


def main():
    assay, rounds, seconds = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    folder = tempfile.mkdtemp(prefix="assay-bench-syscalls-")
    path, floor = compiled(folder, "load", LOAD), compiled(folder, "floor", FLOOR)
    print("probes at the entry of functions (fentry), asked for with a program that names none:", subprocess.run([floor, "fentry"], check=True, capture_output=True, text=True).stdout.strip())

    flat = [path, seconds, "0"]
    each = 1 / pairs.plain(flat)
    # What is left of 2 us after the call is computed in.
    loads = {"flat": flat, "paced": [path, seconds, str(max(0.0, 2e-6 - each))]}


    def beside(command):
        def run(load):
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as tracer:
                time.sleep(1)
                if tracer.poll() is not None:
                    raise RuntimeError(f"{command[0]} ended at once")
                value = pairs.plain(load)
                tracer.send_signal(signal.SIGINT)
            return value
        return run

    peers = [
        ("nothing (control)", pairs.under(["env"], folder)),
        ("empty probe at the return", pairs.under([floor, "empty", "sys_exit", "--"], folder)),
        ("empty probes at both ends", pairs.under([floor, "empty", "sys_enter", "sys_exit", "--"], folder)),
        ("the clock read at both ends", pairs.under([floor, "clock", "sys_enter", "sys_exit", "--"], folder)),
        ("assay syscalls", pairs.under([assay, "syscalls", "--"], folder)),
        ("assay syscalls of another program", beside([assay, "syscalls", "--", "sleep", "1000"])),
    ]
    for program, words in [("strace", ["strace", "-c", "-f", "-o", os.path.join(folder, "counts")]), ("perf", ["perf", "trace", "-s", "-o", os.path.join(folder, "trace")])]:
        if shutil.which(program):
            peers.append((" ".join(words[:3]), pairs.under(words, folder)))
        else:
            print(f"skipped: because {program} is not installed")
    asked = [(load, what, run) for load in loads for what, run in peers]
    pairs.compare(loads, asked, rounds, "calls a second", each="call")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()

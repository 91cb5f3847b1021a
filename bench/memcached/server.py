"""A memcached of our own on one CPU, and commands on another."""

import os
import re
import socket
import subprocess
import time

CPUS = sorted(os.sched_getaffinity(0))
SERVER_CPU, CLIENT_CPU = CPUS[0], CPUS[-1]
TICK = os.sysconf("SC_CLK_TCK")


class Server:
    """`memcached -t 1`, bound to one CPU, on a free port; ended on exit."""

    name = "memcached"

    def options(self):
        user = ["-u", "root"] if os.geteuid() == 0 else []
        return ["-t", "1", "-l", "127.0.0.1", "-U", "0", "-p", str(self.port), "-m", "4096", "-c", "16000",
                "-b", "16000", *user]

    def __enter__(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        self.process = subprocess.Popen(["taskset", "-c", str(SERVER_CPU), self.name, *self.options()],
                                        stdout=subprocess.DEVNULL)
        for _ in range(400):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except OSError:
                time.sleep(0.01)
        raise SystemExit(f"{self.name} does not listen")

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    @property
    def pid(self):
        return self.process.pid

    def cpu_s(self):
        """User and system time until now, in ticks of 10 ms."""
        with open(f"/proc/{self.pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK


def command(words, bind=True):
    """Runs a command on the client's CPU: (its output, its CPU seconds, its wall seconds)."""
    words = (["taskset", "-c", str(CLIENT_CPU)] if bind else []) + [str(w) for w in words]
    begun = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, err = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(words)} failed ({process.returncode}): {err or out}")
    return out, usage.ru_utime + usage.ru_stime, time.monotonic() - begun


def fields(line):
    """`a=1 b=x` as a dictionary of texts."""
    return dict(re.findall(r"(\w+)=(\S+)", line))

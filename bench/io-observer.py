"""The windows of bench/io-observer.sh: starts and stops each tracer beside the load, counts the I/Os of
the device in windows with and without it, and prints ratios with bootstrap intervals and what was lost. ICOUNT=N
says that the clock counts instructions, 2^N ns each: then costs are printed in instructions, and those of each probe."""
import collections, ctypes, glob, json, os, random, re, shutil, signal, statistics, subprocess, sys, time

assay, device, rounds, work, kind = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5]
name = device.rsplit("/", 1)[1]
WINDOW, SETTLE = float(os.environ.get("WINDOW", "0.6")), 0.25
ICOUNT = os.environ.get("ICOUNT") or None
# What a nanosecond of the clock is: itself, or a part of an instruction.
UNIT, EACH = ("instructions", 1 / (1 << int(ICOUNT))) if ICOUNT else ("ns", 1.0)


def ios():
    """Reads that the device has done."""
    with open(f"/sys/block/{name}/stat") as f:
        return int(f.read().split()[0])


def window():
    a, t = ios(), time.monotonic()
    time.sleep(WINDOW)
    return (ios() - a) / (time.monotonic() - t)


major_minor = open(f"/sys/block/{name}/dev").read().strip().split(":")
dev = int(major_minor[0]) << 20 | int(major_minor[1])
KEY = "args->dev, args->sector"
HIST = (
    f"tracepoint:block:block_rq_issue /args->dev == {dev}/ {{ @t[{KEY}] = nsecs; @size = hist(args->bytes); @issued = count(); }} "
    f"tracepoint:block:block_rq_complete /args->dev == {dev} && @t[{KEY}]/ {{ @us = hist((nsecs - @t[{KEY}]) / 1000); delete(@t[{KEY}]); @matched = count(); }}"
)
PRINT = f'tracepoint:block:block_rq_complete /args->dev == {dev}/ {{ printf("%llu %llu %d %s\\n", nsecs, args->sector, args->nr_sector, comm); }}'

# Peers read the kernel's descriptions of tracepoints: where they are not mounted, they are for them alone.
TRACED = []
if not os.path.isdir("/sys/kernel/tracing/events"):
    mounts = "mount -t debugfs none /sys/kernel/debug; mount -t tracefs none /sys/kernel/tracing"
    TRACED = ["unshare", "-m", "sh", "-c", f'{mounts}; exec "$@"', "sh"]
ARMS = {
    "nothing (control)": ["sleep", "60"],
    "assay io --by device --hist size,device,address": [assay, "io", "--device", device, "--by", "device,direction", "--hist", "size,device,address", "--json"],
    "assay io --by program --hist size,latency": [assay, "io", "--device", device, "--by", "program,direction", "--hist", "size,latency", "--json"],
    "assay io --by file --hist size": [assay, "io", "--device", device, "--by", "file", "--hist", "size", "--json"],
    "assay io --events": [assay, "io", "--device", device, "--events", "--json"],
    "assay io --save (every I/O to Parquet)": [assay, "io", "--device", device, "--save", f"{work}/io.parquet", "--json"],
}
if shutil.which("bpftrace"):
    ARMS["bpftrace: histograms of size and latency"] = [*TRACED, "bpftrace", "-e", HIST]
    ARMS["bpftrace: a line for each I/O"] = [*TRACED, "bpftrace", "-e", PRINT]
if shutil.which("perf"):
    ARMS["perf record, issue and complete, 16 MiB"] = [*TRACED, "perf", "record", "-q", "-a", "-m", "4096", "-e", "block:block_rq_issue,block:block_rq_complete", "-o", f"{work}/perf.data"]
if shutil.which("blktrace"):
    ARMS["blktrace"] = [*TRACED, "blktrace", "-d", device, "-D", work, "-o", "trace"]
# Only tracers whose name has these words.
ONLY = os.environ.get("ONLY", "")
ARMS = {arm: argv for arm, argv in ARMS.items() if ONLY in arm}


def lost(arm, out, err, seen):
    """What the tracer itself says that it lost, as a share."""
    if arm.startswith("assay"):
        h = json.loads(out)["completeness"]
        missing = (h["dropped"] or 0) + h["given_up"] + h["unmatched_ends"] + h["missed_completions"]
        return missing / max(h["ios"], 1)
    if arm.startswith("bpftrace: hist"):
        n = dict(re.findall(r"@(issued|matched): (\d+)", out))
        return 1 - int(n.get("matched", 0)) / max(int(n.get("issued", 1)), 1)
    if arm.startswith("bpftrace: a line"):
        return sum(int(n) for n in re.findall(r"Lost (\d+) events", out + err)) / max(seen, 1)
    if arm.startswith("perf"):
        stat = subprocess.run(["perf", "report", "--stats", "-i", f"{work}/perf.data"], capture_output=True, text=True)
        n = re.search(r"LOST_SAMPLES events: +(\d+)|LOST events: +(\d+)", stat.stdout)
        return float(next(g for g in n.groups() if g)) / max(2 * seen, 1) if n else 0.0
    return None


def attached(child):
    """Waits until the probes of a tracer have been as many as they are for half a second in which it slept for most of the time:
    the kernel verifies one probe after another, for long ones longer than that."""
    slept, probes, until = [], -1, time.monotonic() + 60
    while time.monotonic() < until and child.poll() is None:
        now = 0
        for fd in os.listdir(f"/proc/{child.pid}/fd"):
            try:
                link = os.readlink(f"/proc/{child.pid}/fd/{fd}")
                now += "bpf" in link and ("link" in link or "tracepoint" in link)
            except OSError:
                pass
        states = [open(path).read().rsplit(")", 1)[1].split()[0] for path in glob.glob(f"/proc/{child.pid}/task/*/stat")]
        slept = slept[-9:] + ["R" not in states] if now and now == probes else []
        probes = now
        if len(slept) == 10 and sum(slept) > 5:
            return
        time.sleep(0.05)


def run(arm, argv):
    before = window()
    out, err = open(f"{work}/out", "w+"), open(f"{work}/err", "w+")
    child = subprocess.Popen(argv, stdout=out, stderr=err, stdin=subprocess.DEVNULL,
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    # bpftrace compiles first; assay is at work as soon as all its probes are attached; all others are at once.
    time.sleep(2.0 if "bpftrace" in argv else 0.6)
    if argv[0] == assay:
        attached(child)
    a, t = ios(), time.monotonic()
    ratio_window = window()
    if child.poll() is not None:
        reason = (open(f"{work}/err").read().strip().splitlines() or ["it ended at once"])[-1]
        return None, None, None, f"cannot capture here: {reason[:100]}"
    if ICOUNT and argv[0] == assay:
        for prog, (ns, n) in programs(child.pid).items():
            name, machine, verified = described(prog)
            before_ns, before_n, *_ = runs[arm].get(name, (0, 0))
            runs[arm][name] = (before_ns + ns, before_n + n, machine, verified)
    child.send_signal(signal.SIGINT if argv[0] != "sleep" else signal.SIGTERM)
    try:
        child.wait(60)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    seen = ios() - a
    out.seek(0), err.seek(0)
    text, errors = out.read(), err.read()
    time.sleep(SETTLE)
    after = window()
    if arm == "blktrace":
        size = sum(os.path.getsize(f"{work}/{f}") for f in os.listdir(work) if f.startswith("trace"))
        if size == 0:
            return None, None, None, "captures nothing here: " + (errors.strip().splitlines() or ["no events"])[-1][:90]
    return ratio_window / ((before + after) / 2), (before + after) / 2, lost(arm, text, errors, seen), cost(arm, text)


def cost(arm, out):
    if not arm.startswith("assay"):
        return ""
    c = json.loads(out)["cost"]
    ns = c["ns_per_io"]
    return f"{ns * EACH:.0f} {UNIT} an I/O" if ns else ""


def described(prog_id):
    """Name, bytes of machine code and of verified eBPF of a program of the kernel (bpf_prog_info of linux/bpf.h)."""
    libc = ctypes.CDLL(None, use_errno=True)
    attr = ctypes.create_string_buffer(128)
    attr[:4] = prog_id.to_bytes(4, sys.byteorder)
    fd = libc.syscall(321, 13, attr, 128)
    if fd < 0:
        return "?", 0, 0
    info = ctypes.create_string_buffer(128)
    attr = ctypes.create_string_buffer(128)
    attr[:16] = fd.to_bytes(4, sys.byteorder) + (128).to_bytes(4, sys.byteorder) + ctypes.addressof(info).to_bytes(8, sys.byteorder)
    libc.syscall(321, 15, attr, 128)
    os.close(fd)
    word = lambda at: int.from_bytes(info.raw[at:at + 4], sys.byteorder)
    return info.raw[64:80].split(b"\0")[0].decode(), word(16), word(20)


def programs(pid):
    """The time and the runs of each program that a process holds, as far as the kernel took them."""
    found = {}
    for entry in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            text = open(f"/proc/{pid}/fdinfo/{entry}").read()
        except OSError:
            continue
        value = lambda key: int((re.search(rf"^{key}:\s*(\d+)", text, re.M) or [0, 0])[1])
        if "prog_tag" in text and value("run_cnt"):
            found[value("prog_id")] = (value("run_time_ns"), value("run_cnt"))
    return found


def interval(values):
    rng = random.Random(1)
    means = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(4000))
    return means[200], means[3800]


results, gone, bases = {a: [] for a in ARMS}, {}, []
runs = collections.defaultdict(dict)
for r in range(rounds):
    order = [a for a in ARMS if a not in gone]
    random.shuffle(order)
    for arm in order:
        print(f"round {r + 1} of {rounds}: {arm}", file=sys.stderr)
        ratio, base, share, note = run(arm, ARMS[arm])
        if ratio is None:
            gone[arm] = note
            continue
        bases.append(base)
        results[arm].append((ratio, share, note))
base = statistics.median(bases)
level = f"{1e9 * EACH / base:.0f} instructions an I/O" if ICOUNT else f"{base / 1000:.0f}k IOPS"
print(f"{kind} device, {level} without a tracer (median of {len(bases)}), {rounds} rounds")
print(f"{'tracer':<52}{'IOPS with/without':>22}  {'lost':>6}  in kernel")
for arm, values in results.items():
    if arm in gone:
        print(f"{arm:<52}{gone[arm]}")
        continue
    ratios = [v[0] for v in values]
    low, high = interval(ratios)
    shares = [v[1] for v in values if v[1] is not None]
    share = f"{100 * statistics.median(shares):.1f} %" if shares else "-"
    notes = [float(v[2].split()[0]) for v in values if v[2]]
    note = f"{statistics.median(notes):.0f} {UNIT} an I/O" if notes else ""
    print(f"{arm:<52}{statistics.median(ratios):>7.3f} ({low:.3f} to {high:.3f})  {share:>6}  {note}")
for arm, found in runs.items():
    ends = sum(n for name, (_, n, *_) in found.items() if name in ("complete", "bio_complete"))
    for name, (ns, n, machine, verified) in found.items():
        print(f"{arm[:40]:<42}{name:<18}{n / max(ends, 1):>6.2f} runs an I/O, {ns * EACH / n:>7.0f} instructions a run; "
              f"{machine} bytes, {verified // 8} of eBPF")

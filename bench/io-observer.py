"""The windows of bench/io-observer.sh: starts and stops each tracer beside the load, counts the I/Os of
the device in windows with and without it, and prints ratios with bootstrap intervals and what was lost."""
import json, os, random, re, shutil, signal, statistics, subprocess, sys, time

assay, device, rounds, work, kind = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5]
name = device.rsplit("/", 1)[1]
WINDOW, SETTLE = float(os.environ.get("WINDOW", "0.6")), 0.25


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
    """Waits until the probes of a tracer have been as many as they are for half a second."""
    count, since = 0, time.monotonic()
    while time.monotonic() - since < (0.5 if count else 60) and child.poll() is None:
        now = 0
        for fd in os.listdir(f"/proc/{child.pid}/fd"):
            try:
                link = os.readlink(f"/proc/{child.pid}/fd/{fd}")
                now += "bpf" in link and ("link" in link or "tracepoint" in link)
            except OSError:
                pass
        if now != count:
            count, since = now, time.monotonic()
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
    return f"{ns:.0f} ns an I/O" if ns else ""


def interval(values):
    rng = random.Random(1)
    means = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(4000))
    return means[200], means[3800]


results, gone, bases = {a: [] for a in ARMS}, {}, []
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
print(f"{kind} device, {statistics.median(bases) / 1000:.0f}k IOPS without a tracer (median of {len(bases)}), {rounds} rounds")
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
    note = f"{statistics.median(notes):.0f} ns an I/O" if notes else ""
    print(f"{arm:<52}{statistics.median(ratios):>7.3f} ({low:.3f} to {high:.3f})  {share:>6}  {note}")

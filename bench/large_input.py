"""Time and memory of assay for generated inputs of 10, 100, ... elements of one dimension. See large-input.sh."""
import gzip, os, resource, shutil, subprocess, sys, tempfile, time

assay, most, wanted = sys.argv[1], int(float(sys.argv[2])), sys.argv[3:]
work = tempfile.mkdtemp()


def varint(n):
    out = b""
    while n >= 0x80:
        out, n = out + bytes([n & 0x7F | 0x80]), n >> 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def pprof(samples=1, locations=1, strings=1):
    kinds = field(1, field(1, 1) + field(2, 2))
    names = [b"", b"samples", b"count"] + [b"f%d" % i for i in range(max(strings, locations))]
    parts = [kinds] + [field(6, n) for n in names]
    for i in range(locations):
        parts.append(field(4, field(1, i + 1) + field(4, field(1, i + 1))))
        parts.append(field(5, field(1, i + 1) + field(2, 3 + i)))
    for i in range(samples):
        stack = b"".join(varint(1 + (i >> bit) % 2) for bit in range(20))
        parts.append(field(2, field(1, stack) + field(2, varint(1))))
    return b"".join(parts)


def experiment(levels, excludes):
    exclude = ", ".join('{ "controls.env.A" = "v%d" }' % i for i in range(excludes))
    text = 'name = "x"\nworkload = "noop"\n[factors]\n"controls.env.A" = [%s]\n[design]\nblocks = 1\nexclude = [%s]\n'
    return (text % (", ".join('"v%d"' % i for i in range(levels)), exclude)).encode()


def post(body):
    head = '+++\ntitle = "T"\nas_of = "2009-08-27"\n+++\n\n{{ value("t5240-1.6") }}\n\n'
    return (head + body + "\n").encode()


def table(columns, rows):
    line = "|" + " 5 |" * columns + "\n"
    return line + "|" + "--|" * columns + "\n" + line * rows


def jmh(n):
    fork = b", ".join([b"1.0"] * n)
    times = b"".join(b'"%sTime": "1 s", "%sIterations": %d, "%sBatchSize": 1, ' % (k, k, i, k) for k, i in ((b"warmup", 1), (b"measurement", n)))
    metric = b'{"score": 1.0, "scoreError": 0.0, "scoreUnit": "ops/s", "rawData": [[%s]]}' % fork
    return b'[{"jmhVersion": "1.37", "benchmark": "a.b", "mode": "thrpt", "threads": 1, "forks": 1, %s"primaryMetric": %s, "secondaryMetrics": {}}]' % (times, metric)


# The name, the file's name, the command with FILE in it, and the content for n elements.
CASES = [
    ("pprof-samples", "x.pb", "profile --from FILE", lambda n: pprof(samples=n, locations=2)),
    ("pprof-locations", "x.pb", "profile --from FILE", lambda n: pprof(locations=n)),
    ("pprof-strings", "x.pb", "profile --from FILE", lambda n: pprof(strings=n)),
    ("pprof-packed", "x.pb.gz", "profile --from FILE", lambda n: gzip.compress(pprof() + b"\x12\x00" * n * 200)),
    ("folded-lines", "x.folded", "profile --from FILE", lambda n: b"".join(b"main;f%d;g 5\n" % i for i in range(n))),
    ("folded-depth", "x.folded", "profile --from FILE", lambda n: b";".join(b"f%d" % i for i in range(n)) + b" 5\n"),
    ("perf-samples", "x.txt", "profile --from FILE", lambda n: b"".join(b"p 1 [0] 1.2: 3 cycles:\n\t 7f f%d (/p)\n\n" % i for i in range(n))),
    ("plan-levels", "x.toml", "plan FILE", lambda n: experiment(n, 0)),
    ("plan-excludes", "x.toml", "plan FILE", lambda n: experiment(n + 1, n)),
    ("post-words", "x.md", "publish FILE --force -o OUT", lambda n: post("word 5 beats " * (n // 3))),
    ("post-columns", "x.md", "publish FILE --force -o OUT", lambda n: post(table(n, 20))),
    ("post-rows", "x.md", "publish FILE --force -o OUT", lambda n: post(table(5, n))),
    ("post-footnotes", "x.md", "publish FILE --force -o OUT", lambda n: post("".join(f"a[^{i}]\n\n[^{i}]: note 5\n\n" for i in range(n)))),
    ("post-headings", "x.md", "publish FILE --force -o OUT", lambda n: post("## Same\n\n" * n)),
    ("post-numbers", "x.md", "publish FILE --force -o OUT", lambda n: post('{{ value("t5240-1.6") }}\n' * n)),
    ("csv-rows", "x.csv", "history import FILE --name n", lambda n: b"time,a,b\n" + b"".join(b"%d,%d,2\n" % (1000000000 + i, i % 7) for i in range(n))),
    ("csv-columns", "x.csv", "history import FILE --name n", lambda n: b"time," + b",".join(b"c%d" % i for i in range(n)) + b"\n1000000000" + b",5" * n + b"\n"),
    ("google-entries", "x.json", "archive import FILE", lambda n: b'{"context": {}, "benchmarks": [' + b",".join(b'{"name": "b%d", "real_time": 5, "cpu_time": 5, "time_unit": "ns"}' % i for i in range(n)) + b"]}"),
    ("hyperfine-times", "x.json", "archive import FILE", lambda n: b'{"results": [{"command": "a", "mean": 1, "times": [' + b",".join([b"1.0"] * n) + b"]}]}"),
    ("jmh-iterations", "x.json", "archive import FILE", jmh),
    ("go-lines", "x.txt", "archive import FILE", lambda n: b"pkg: p\n" + b"".join(b"BenchmarkA%d-2 9 %d ns/op\n" % (i % 1000, i + 1) for i in range(n)) + b"PASS\n"),
    ("fio-jobs", "x.json", "archive import FILE", lambda n: b'{"fio version": "fio-3", "jobs": [' + b",".join(b'{"jobname": "j%d", "groupid": %d, "read": {"io_bytes": 5, "bw": 5, "iops": 5}}' % (i, i) for i in range(n)) + b"]}"),
]

print(f"{'input':16} {'n':>8} {'bytes':>10} {'s':>7} {'MB':>6}  exit")
for name, file, command, content in CASES:
    if wanted and name not in wanted:
        continue
    n = 10
    while n <= most:
        path = os.path.join(work, file)
        # In a process of its own: a child's peak memory begins with that of its parent.
        if (maker := os.fork()) == 0:
            with open(path, "wb") as f:
                f.write(content(n))
            os._exit(0)
        os.waitpid(maker, 0)
        words = [path if w == "FILE" else os.path.join(work, "out") if w == "OUT" else w for w in command.split()]
        shutil.rmtree(os.path.join(work, "archive"), ignore_errors=True)
        start = time.perf_counter()
        errors = open(os.path.join(work, "errors"), "w+")
        environment = {**os.environ, "ASSAY_ARCHIVE": os.path.join(work, "archive"), "XDG_STATE_HOME": work}
        child = subprocess.Popen([assay, *words], stdout=subprocess.DEVNULL, stderr=errors, env=environment)
        timer_ended = False
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.perf_counter() - start > 60:
                child.kill()
                pid, status, usage = os.wait4(child.pid, 0)
                timer_ended = True
                break
            time.sleep(0.002)
        seconds = time.perf_counter() - start
        code = "ended after 60 s" if timer_ended else os.waitstatus_to_exitcode(status)
        errors.seek(0)
        why = "" if code in (0, 4) else " ".join(errors.read().split())[:90].replace(work + "/", "")
        print(f"{name:16} {n:8} {os.path.getsize(path):10} {seconds:7.2f} {usage.ru_maxrss / 1024:6.0f}  {code} {why}", flush=True)
        if timer_ended:
            break
        n *= 10
shutil.rmtree(work)

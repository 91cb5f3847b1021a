"""Twenty people browse a server, with and without a thousand connections that never finish a request.

    slow-clients.py HOST:PORT PEOPLE SLOW ROUNDS SECONDS PATH...     (the token in ASSAY_TOKEN)

Rounds alternate: one part with the slow connections, one without, in an order that changes from round to
round. The slow ones come from the same address as the people; each sends a byte a second of a head, or of a
body whose length it lied about, and is opened again when the server ends it, at most 1,000 a second. Called by
serve-slow.sh.
"""
import http.client
import json
import math
import os
import random
import selectors
import socket
import sys
import threading
import time

address, people, slow, rounds, seconds, *paths = sys.argv[1:]
host, port = address.rsplit(":", 1)
port, people, slow, rounds, seconds = int(port), int(people), int(slow), int(rounds), float(seconds)
token = os.environ["ASSAY_TOKEN"]
THINK_S = 0.5
OPENED_PER_S = 1000


class Slow(threading.Thread):
    """Holds the slow connections until it is asked to stop."""

    def __init__(self):
        super().__init__(daemon=True)
        self.over = threading.Event()
        self.full = threading.Event()
        self.opened = 0

    def open(self, selector):
        connection = socket.socket()
        connection.setblocking(False)
        connection.connect_ex((host, port))
        heads = [
            f"GET /queue HTTP/1.1\r\nHost: {address}\r\nX-Slow: ",
            f"POST /login HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 200000\r\n\r\ntoken=",
        ]
        what = {"next": heads[self.opened % 2].encode(), "at": 0.0}
        selector.register(connection, selectors.EVENT_READ, what)
        self.opened += 1

    def run(self):
        selector = selectors.DefaultSelector()
        began = time.monotonic()
        while not self.over.is_set():
            missing = slow - len(selector.get_map())
            allowed = int((time.monotonic() - began) * OPENED_PER_S) - self.opened
            for _ in range(min(missing, allowed)):
                self.open(selector)
            if self.opened >= slow:
                self.full.set()
            for key, _ in selector.select(0.02):
                try:
                    if key.fileobj.recv(4096):
                        continue
                except BlockingIOError:
                    continue
                except OSError:
                    pass
                selector.unregister(key.fileobj)
                key.fileobj.close()
            now = time.monotonic()
            for key in list(selector.get_map().values()):
                if now - key.data["at"] < 1:
                    continue
                try:
                    key.fileobj.send(key.data["next"])
                    key.data.update(next=b"x", at=now)
                except BlockingIOError:
                    pass
                except OSError:
                    selector.unregister(key.fileobj)
                    key.fileobj.close()
        for key in list(selector.get_map().values()):
            key.fileobj.close()


def browse(number, until, times, failures):
    """One person: a page, a look at it, another page."""
    chosen = random.Random(number)
    time.sleep(chosen.random() * THINK_S)
    while time.monotonic() < until:
        path = chosen.choice(paths)
        began = time.monotonic()
        try:
            connection = http.client.HTTPConnection(host, port, timeout=30)
            connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
            answer = connection.getresponse()
            answer.read()
            connection.close()
            status = answer.status
        except OSError as error:
            status = str(error)
        times.append(time.monotonic() - began)
        if status != 200:
            failures.append(f"{path}: {status}")
        time.sleep(THINK_S * (0.5 + chosen.random()))


def part(with_slow):
    """Times of the pages in one part, seconds; what failed; how many slow connections were opened."""
    attack = Slow() if with_slow else None
    if attack:
        attack.start()
        attack.full.wait()
    times, failures = [], []
    until = time.monotonic() + seconds
    threads = [threading.Thread(target=browse, args=(n, until, times, failures)) for n in range(people)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if attack:
        attack.over.set()
        attack.join()
        # Their places are free before the other side is measured.
        time.sleep(1)
    return times, failures, attack.opened if attack else 0


def percentile(times, share):
    ordered = sorted(times)
    return ordered[min(math.ceil(share * len(ordered)), len(ordered)) - 1]


sides = {"without": [], "with": []}
failures = {"without": [], "with": []}
opened = 0
for number in range(rounds):
    for with_slow in [False, True] if number % 2 == 0 else [True, False]:
        name = "with" if with_slow else "without"
        times, failed, more = part(with_slow)
        sides[name].append(times)
        failures[name] += failed
        opened += more
for name, parts in sides.items():
    times = [t for part in parts for t in part]
    print(
        f"{name} {slow} slow connections: {len(times)} pages, {len(failures[name])} failed, "
        f"median {percentile(times, 0.5) * 1e3:.1f} ms, p99 {percentile(times, 0.99) * 1e3:.1f} ms, "
        f"longest {max(times) * 1e3:.1f} ms"
    )
    for line in sorted(set(failures[name]))[:5]:
        print(f"  {line}")
print(f"slow connections opened: {opened}, in {rounds} rounds of {seconds:g} s")
# The ratio of the p99 of all pages; its interval by drawing whole rounds again.
draw = random.Random(1)
ratios = []
for _ in range(2000):
    chosen = [draw.randrange(rounds) for _ in range(rounds)]
    both = [percentile([t for i in chosen for t in sides[n][i]], 0.99) for n in ("with", "without")]
    ratios.append(both[0] / both[1])
ratios.sort()
both = [percentile([t for part in sides[n] for t in part], 0.99) for n in ("with", "without")]
low, high = ratios[49], ratios[1949]
print(f"p99 with / without: {both[0] / both[1]:.2f} [95 % CI {low:.2f}, {high:.2f}]")
print(json.dumps({"p99_ms": {"with": both[0] * 1e3, "without": both[1] * 1e3}}))
sys.exit(1 if failures["with"] or failures["without"] else 0)

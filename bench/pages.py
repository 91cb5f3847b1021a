"""Opens pages in headless Chromium over its DevTools pipe and prints what they weigh. Standard library only."""
import base64, json, os, re, shutil, statistics, subprocess, sys, tempfile

ROUNDS = 5
LOOK = """(() => {
  const shown = (e) => e.checkVisibility({ visibilityProperty: true });
  const stops = [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex]')];
  return {
    height: document.documentElement.scrollHeight,
    charts: document.querySelectorAll('svg.chart:not(.mini), svg.flame').length,
    stops: stops.filter((e) => e.tabIndex >= 0 && !e.disabled && shown(e)).length,
    ready: performance.getEntriesByType('navigation')[0].domInteractive,
    wide: document.documentElement.scrollWidth - innerWidth,
  };
})()"""


class Browser:
    """One page of a browser."""

    def __init__(self, program):
        self.folder = tempfile.mkdtemp()
        to_browser, self.to = os.pipe()
        self.of, from_browser = os.pipe()
        line = [program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe",
                "--disable-background-networking", "--user-data-dir=" + self.folder]

        def descriptors():
            os.dup2(to_browser, 13)
            os.dup2(from_browser, 14)
            os.dup2(13, 3)
            os.dup2(14, 4)

        self.child = subprocess.Popen(line, preexec_fn=descriptors, close_fds=False, stderr=subprocess.DEVNULL)
        self.next, self.session, self.buffer = 0, None, b""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")

    def call(self, method, **parameters):
        self.next += 1
        message = {"id": self.next, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.buffer:
                self.buffer += os.read(self.of, 1 << 20)
            answer, self.buffer = self.buffer.split(b"\0", 1)
            answer = json.loads(answer)
            if answer.get("id") == self.next:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def value(self, expression):
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)["result"].get("value")

    def go(self, url):
        self.call("Page.navigate", url=url)
        while self.value(f"document.readyState === 'complete' && location.href === {json.dumps(url)}") is not True:
            pass

    def close(self):
        self.child.kill()
        self.child.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def measure(browser, path):
    url = "file://" + os.path.realpath(path)
    size = lambda width: browser.call(
        "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
    size(1280)
    ready = []
    for _ in range(ROUNDS):
        browser.go("about:blank")
        browser.go(url)
        look = browser.value(LOOK)
        ready.append(look["ready"])
    pdf = base64.b64decode(browser.call("Page.printToPDF", preferCSSPageSize=False)["data"])
    size(390)
    narrow = browser.value(LOOK)["wide"]
    return [os.path.getsize(path), look["height"], look["charts"], look["stops"], round(statistics.median(ready)),
            len(re.findall(rb"/Type\s*/Page\b", pdf)), max(narrow, 0)]


def main():
    program = next((p for p in ("chromium", "chromium-browser", "google-chrome") if shutil.which(p)), None)
    if program is None:
        sys.exit("skipped: because no Chromium is installed (Debian package chromium)")
    browser = Browser(program)
    try:
        print("| page | bytes | height, px | charts drawn | tab stops | interactive, ms | printed pages | px too wide at 390 |")
        print("|---|---|---|---|---|---|---|---|")
        for path in sys.argv[1:]:
            name = os.path.basename(os.path.dirname(os.path.realpath(path)))
            print(f"| {name} | " + " | ".join(f"{n:,}" for n in measure(browser, path)) + " |")
    finally:
        browser.close()


if __name__ == "__main__":
    main()

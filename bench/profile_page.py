"""A made-up profile over many stacks, as a page that is opened again and again. Standard library only."""

import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from pages import Browser

STACKS = 60_000
FUNCTIONS = 4_000
# From the start of the navigation to the moment the pictures answer: the page's script has made its search fields, and a frame
# has been drawn.
OPENED = """new Promise((done) => {
  const look = () => document.querySelector('.flame-bar input') && document.readyState === 'complete'
    ? requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0)) : setTimeout(look, 1);
  look();
})"""
SEARCHED = """(() => {
  const input = document.querySelector('.flame-bar input');
  const began = performance.now();
  input.value = 'function_1'; input.dispatchEvent(new Event('input'));
  document.body.getBoundingClientRect();
  return performance.now() - began;
})()"""
ZOOMED = """(() => {
  const cells = document.querySelectorAll('svg.flame .f');
  const began = performance.now();
  cells[Math.min(5, cells.length - 1)].dispatchEvent(new MouseEvent('click', { bubbles: true }));
  document.body.getBoundingClientRect();
  return performance.now() - began;
})()"""


def folded(path, samples):
    """Stacks as programs have them: a few ways down from `main`, most samples in few of them."""
    rng = random.Random(23)
    weights = [1 / (1 + i) ** 0.8 for i in range(STACKS)]
    scale = samples / sum(weights)
    stacks = {}
    left = samples
    for weight in weights:
        depth = rng.randint(8, 48)
        # Near the root there are few functions, further down many.
        names = [f"function_{int(FUNCTIONS * rng.random() ** (1 + 12 / (d + 1)))}" for d in range(depth)]
        stack = ";".join([f"worker-{rng.randrange(8)}", "main", *names])
        count = min(left, max(1, round(weight * scale)))
        stacks[stack] = stacks.get(stack, 0) + count
        left -= count
    first = next(iter(stacks))
    stacks[first] += left
    with open(path, "w") as out:
        for stack, count in stacks.items():
            out.write(f"{stack} {count}\n")
    return len(stacks), sum(stacks.values())


def main():
    assay, samples, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    program = next((p for p in ("chromium", "chromium-browser", "google-chrome") if shutil.which(p)), None)
    if program is None:
        sys.exit("skipped: because no Chromium is installed (Debian package chromium)")
    folder = tempfile.mkdtemp()
    try:
        source, page = os.path.join(folder, "p.folded"), os.path.join(folder, "p.html")
        stacks, count = folded(source, samples)
        began = time.monotonic()
        subprocess.run([assay, "profile", "--from", source, "-o", page], check=True, stdout=subprocess.DEVNULL)
        wrote = time.monotonic() - began
        size = os.path.getsize(page)
        print(f"{count:,} samples, {stacks:,} stacks; read and written as a page in {wrote:.2f} s, {size:,} bytes")
        browser = Browser(program)
        try:
            browser.call("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
            opened, searched, zoomed = [], [], []
            for _ in range(rounds):
                browser.go("about:blank")
                browser.call("Page.navigate", url="file://" + page)
                opened.append(browser.value(OPENED))
                searched.append(browser.value(SEARCHED))
                zoomed.append(browser.value(ZOOMED))
            boxes = browser.value("document.querySelectorAll('svg.flame .f').length")
        finally:
            browser.close()
        for name, values in (("opened", opened), ("searched", searched), ("zoomed", zoomed)):
            low, mid, high = min(values), statistics.median(values), max(values)
            print(f"{name:9} median {mid:7.0f} ms ({low:.0f} to {high:.0f}), n={rounds}")
        print(f"{boxes:,} boxes")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()

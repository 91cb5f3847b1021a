#!/usr/bin/env python3
"""Fifty ordinary runs: ten commands, one to five treatments, quiet and with two busy loops beside them. Counts the lines
that a run prints, its warnings, the findings by id, and pastes every command that it prints.
Usage: bench/ordinary.py [ASSAY]"""

import collections
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

assay = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "assay"
COMMANDS = {
    "true": "true",
    "sleep": "sleep 0.02",
    "gzip": "gzip -{n} -kf numbers",
    "sort": "sort -n numbers -o sorted",
    "grep": "grep -c {n} numbers",
    "wc": "wc numbers",
    "sha256sum": "sha256sum numbers",
    "dd": "dd if=/dev/zero of=zeros bs=1M count={n}0 conv=fsync status=none",
    "tar": "tar cf all.tar numbers",
    "awk": "awk '{{ s += $1 * {n} }} END {{ print s }}' numbers",
}
# Treatments, and whether busy loops run beside.
WAYS = [(1, False), (2, False), (2, True), (3, True), (5, False)]


def variants(command, count):
    """Lines that differ by their number, or by how often they run the same."""
    if "{n}" in command:
        return [command.format(n=n) for n in range(1, count + 1)]
    return ["sh -c " + shlex.quote("; ".join([command] * n)) for n in range(1, count + 1)]


folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
env = {**os.environ, "ASSAY_ARCHIVE": folder.name + "/archive", "COLUMNS": "80"}
with open("numbers", "w") as file:
    file.writelines(f"{n}\n" for n in range(60_000))


def run(words):
    return subprocess.run(words, env=env, capture_output=True, text=True)


lines, warnings, found, pasted, runs = collections.defaultdict(list), [], collections.Counter(), [], 0
for name, command in COMMANDS.items():
    for count, busy in WAYS:
        loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2 * busy)]
        try:
            done = run([assay, "run", "--blocks", "6", *variants(command, count)])
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()
        if done.returncode not in (0, 4):
            sys.exit(f"{name}, {count} treatments: exit code {done.returncode}\n{done.stderr}")
        runs += 1
        said = [line for line in done.stdout.splitlines() if line.strip()]
        lines[count].append(len(said))
        warnings.append(sum(line.startswith("warning") for line in said))
        view = json.loads(run([assay, "archive", "show", "last", "--json"]).stdout)
        each = [f for r in view["records"] for f in r.get("findings", [])]
        each += view["analysis"]["findings"]
        found.update({f["id"] + " " + f["name"] for f in each if f["severity"] != "note"})
        for typed in re.findall(r"`(assay [^`]+)`", " ".join(done.stdout.split())):
            again = run([assay, *shlex.split(typed)[1:]])
            pasted.append(again.returncode in (0, 4))
            if not pasted[-1]:
                print(f"{typed}: exit code {again.returncode}\n{again.stderr}")
print(f"{runs} runs")
for count, all_lines in sorted(lines.items()):
    print(f"{count} treatments: {min(all_lines)} to {max(all_lines)} lines")
print(f"warnings printed after a run: at most {max(warnings)}, in {sum(map(bool, warnings))} runs")
print(f"commands printed and pasted: {len(pasted)}, {pasted.count(False)} failed")
for name, times in found.most_common():
    print(f"{name}: more than a note in {times} of {runs} runs")

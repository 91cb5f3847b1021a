"""Front door of bench/memcached.sh: examples-folder [peers [ROUNDS [SECONDS]] | stall [SECONDS] | many]."""

import pathlib
import sys

import many
import peers
import stall

if __name__ == "__main__":
    examples = pathlib.Path(sys.argv[1]).resolve()
    what, numbers = (sys.argv[2], sys.argv[3:]) if len(sys.argv) > 2 else ("all", [])
    if what not in ("all", "peers", "stall", "many"):
        raise SystemExit(__doc__)
    if what in ("all", "peers"):
        peers.main(examples, *[int(n) if i == 0 else float(n) for i, n in enumerate(numbers)])
    if what in ("all", "stall"):
        stall.main(examples, *map(int, numbers))
    if what in ("all", "many"):
        many.main(examples)

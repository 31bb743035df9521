"""How many layers of two networks are paired rightly, where it is known which of them correspond?

    python tools/diff_pairing.py                     four networks, each written in other ways
    python tools/diff_pairing.py --faults            and with a fault in an early layer, so that later numbers differ
    python tools/diff_pairing.py --names             the layers that were paired wrongly, too

The networks and the ways are those of `tests/diff`: other names, normalizations folded or written out, channels last,
operators that change nothing, another order of branches.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "diff"))

from diff_networks import NETWORKS
from diff_pairing import EARLY, judged_pairing
from diff_variants import WAYS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", action="store_true", help="with a fault in an early layer")
    parser.add_argument("--names", action="store_true", help="list what was paired wrongly")
    asked = parser.parse_args()
    right = count = 0
    for network in NETWORKS:
        for way in WAYS:
            found = judged_pairing(network, way, EARLY[network] if asked.faults else None)
            right, count = right + found.right, count + found.count
            print(f"{network}, {way}: {found.right} of {found.count}", flush=True)
            if asked.names:
                for name, partner, known in found.wrong:
                    print(f"    {name}: {partner}, and not {' or '.join(sorted(known)) or 'none'}")
    print(f"{right} of {count} layers ({right / count:.1%})")


if __name__ == "__main__":
    main()

"""How many layers of two networks are paired rightly, where it is known which of them correspond?

    python tools/diff_pairing.py                     four networks, each written in other ways
    python tools/diff_pairing.py --faults            and with a fault in an early layer, so that later numbers differ
    python tools/diff_pairing.py --names             the layers that were paired wrongly, too
    python tools/diff_pairing.py --stacks A B ...    networks of `make agreement`, in every pair of these stacks

The networks and the ways are those of `tests/diff`: other names, normalizations folded or written out, channels last,
operators that change nothing, another order of branches. With `--stacks` they are those of `tools/agreement.py`.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "diff"))

from diff_networks import NETWORKS
from diff_pairing import EARLY, judged_pairing
from diff_stack_pairing import Known, judged, read_in, with_fault
from diff_variants import WAYS

from mlmodelscope.settings import Settings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", action="store_true", help="with a fault in an early layer")
    parser.add_argument("--names", action="store_true", help="list what was paired wrongly")
    parser.add_argument(
        "--stacks", nargs="+", help="networks of `make agreement` in these stacks, beside onnxruntime-1.31"
    )
    parser.add_argument("--network", action="append", help="which of them; conformance by default")
    asked = parser.parse_args()
    if asked.stacks:
        for name in asked.network or ["conformance"]:
            in_stacks(name, ["onnxruntime-1.31", *asked.stacks], asked.faults, asked.names)
        return
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


def in_stacks(name: str, stacks: list[str], faults: bool, names: bool) -> None:
    from agreement import FOLDER, ways_of

    from worker_package.predictor.nets.bench import Bench
    from worker_package.predictor.nets.subjects import SUBJECTS

    settings = Settings.from_environment()
    subject = SUBJECTS[name](settings)
    ways = ways_of(stacks, subject)
    ways.sort(key=lambda way: way.predictor != "onnxruntime")
    read = list(read_in(Bench(subject, FOLDER, settings), ways, settings))
    others = read
    if faults:
        faulty = replace(subject, network=with_fault(subject.network), files={})
        others = list(
            read_in(Bench(faulty, FOLDER, settings), [way for way in ways if way.form != "shipped"], settings)
        )
    for each in {*filter(lambda each: isinstance(each, str), (*read, *others))}:
        print(f"not read: {each}")
    right = count = pairs = 0
    for place, first in enumerate(read):
        for other, second in enumerate(others):
            if not isinstance(first, Known) or not isinstance(second, Known) or (not faults and other <= place):
                continue
            found, shown, missed = judged(first, second)
            right, count, pairs = right + found, count + shown, pairs + 1
            print(f"{name}: {first.way} | {second.way}: {found} of {shown}", flush=True)
            if names and missed:
                print(f"    {', '.join(missed)}")
    print(f"{name}: {pairs} pairs, {right} of {count} layers ({right / max(1, count):.1%})")


if __name__ == "__main__":
    main()

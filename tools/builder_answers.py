"""Check that what a builder makes answers as the library's own model does, with fixed random weights.

    python tools/builder_answers.py                    every architecture of tools/builders/architectures.json
    python tools/builder_answers.py --library timm --limit 5 --python P

Weights come as safetensors, as a state dict, and as shards with an index, in turns: each goes the way that
the weights of an evaluation go. Prints those that differ by more than rounding, and how many do not; fails where any
do.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from builder_pixels import INSIDE, catalogued_python, inside

from mlmodelscope.plan.plan import PlannedBuilder
from mlmodelscope.provision.weights.for_builder import describe, is_ready, write_tensors

ROUNDING = 1e-5
"""Of the largest number in the answer."""
_AT_ONCE = 11


def compare(library: str, names: list[str], python: str) -> list[dict[str, Any]]:
    """[{name, form, difference, largest} or {name, form, error}], a few at a time: weights take space."""
    results = []
    for start in range(0, len(names), _AT_ONCE):
        with tempfile.TemporaryDirectory() as folder:
            asked = {"library": library, "folder": folder, "names": names[start : start + _AT_ONCE]}
            made = inside(python, "make_models.py", json.dumps(asked))
            items = [{**each, "files": files_of(library, each)} for each in made]
            answers = inside(python, "same_answers.py", json.dumps(items))
            results += [
                {"name": item["name"], "form": item["form"], **answer}
                for item, answer in zip(items, answers, strict=True)
            ]
        print(f"{library}: {sum(map(is_same, results))} of {len(results)} so far", flush=True)
    return results


def files_of(library: str, made: dict[str, Any]) -> dict[str, str]:
    """As `provision` gives them to the worker."""
    folder, weights = Path(made["folder"]), Path(made["weights"])
    build = folder / "build.json"
    build.write_text(describe(PlannedBuilder(name=library, architecture=made["name"])))
    if not is_ready(weights, None):
        ready = folder / "ready"
        write_tensors(weights, None, ready)
        weights = ready
    return {"build": str(build), "weights": str(weights)}


def is_same(result: dict[str, Any]) -> bool:
    return "error" not in result and result["difference"] <= ROUNDING * result["largest"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", help="a Python that has the libraries")
    parser.add_argument("--library", choices=("timm", "torchvision"))
    parser.add_argument("--first", type=int, default=0, help="number of the first architecture")
    parser.add_argument("--limit", type=int)
    given = parser.parse_args()
    python = given.python or catalogued_python()
    known = json.loads((INSIDE / "architectures.json").read_text())
    is_all_same = True
    for library in [given.library] if given.library else known:
        results = compare(library, known[library][given.first :][: given.limit], python)
        exact = sum(is_same(each) and each["difference"] == 0 for each in results)
        print(f"{library}: {sum(map(is_same, results))} of {len(results)} the same, {exact} of them to the bit")
        for each in results:
            if not is_same(each):
                print(f"  {each['name']} ({each['form']}): {each.get('error') or each['difference']}")
        is_all_same &= all(map(is_same, results))
    sys.exit(not is_all_same)


if __name__ == "__main__":
    main()

"""How many task files of an installed lm-evaluation-harness can be read, and why the others cannot:
`lm_eval_counts.py FOLDER [--mutated N]`, where FOLDER is its `lm_eval/tasks`. Writes a table in Markdown.

Mutated files, made of the real ones from a seed, must be read or refused as well.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from pathlib import Path

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.manifest.load import open_document, parse_document
from mlmodelscope.manifest.schema import DatasetManifest
from mlmodelscope.manifest.schema.part import Manifest
from mlmodelscope.manifest.schema.task import ASKED
from mlmodelscope.plugins.steps import STEPS
from mlmodelscope.task.task import task_named

_NAMES = re.compile(r"`[^`]*`")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--mutated", type=int, default=0)
    told = parser.parse_args(arguments)
    files = sorted(told.folder.rglob("*.yaml"))
    reasons, read = counts(files)
    print(f"{len(files)} files, {read} read, {len(files) - read} refused\n")
    print("| files | why |\n|---|---|")
    for why, count in reasons.most_common():
        print(f"| {count} | {why} |")
    print(f"\n{mutated(files, told.mutated)} of {told.mutated} mutated files read, the others refused")
    return 0


def counts(files: list[Path]) -> tuple[Counter[str], int]:
    """Files by their first reason, and how many have none; any other error than ours ends it."""
    reasons: Counter[str] = Counter()
    read = 0
    for path in files:
        try:
            check(open_document(path).manifest())
            read += 1
        except MLModelScopeError as error:
            reasons[reason_of(error)] += 1
    return reasons, read


def check(found: Manifest) -> None:
    """That steps and measures take what the conversion says."""
    assert isinstance(found, DatasetManifest)
    STEPS["prompt"].resolve(found.prompt)
    STEPS[ASKED[found.task]].resolve(found.ask)
    task_named(found.task).settle(found.measure)


def reason_of(error: MLModelScopeError) -> str:
    """The first problem, without the names that differ from file to file."""
    problem = getattr(error, "problems", [None])[0]
    if problem is None:
        return str(error)[:80]
    if "Python code" in problem.message or "is a Python class" in problem.message:
        return f"`{problem.path.partition('.')[0].partition('[')[0]}` is Python code"
    message = _NAMES.sub("…", problem.message).split("(")[0].split(";")[0].split("  ")[0].strip()
    return f"`{problem.path}`: {message[:90]}" if problem.path else message[:90]


def mutated(files: list[Path], count: int) -> int:
    draw, read = random.Random(11), 0
    for _ in range(count):
        path = draw.choice(files)
        raw = bytearray(path.read_bytes()[:20_000])
        for _ in range(draw.randrange(1, 5)):
            place = draw.randrange(len(raw) + 1)
            raw[place : place + draw.randrange(8)] = bytes(
                draw.choices(b" :{}[]!&*-\n\"'|>%#a0\xc3", k=draw.randrange(5))
            )
        try:
            parse_document(bytes(raw), str(path), path.parent).manifest()
            read += 1
        except MLModelScopeError:
            continue
    return read


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

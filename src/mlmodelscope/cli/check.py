"""`check`: is a manifest right?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from mlmodelscope.cli.terminal import AsJson, print_json, verb
from mlmodelscope.errors import ManifestError, Problem


@verb
def check(
    paths: Annotated[list[str], typer.Argument(help="Files, folders, or - for standard input.", metavar="PATH...")],
    as_json: AsJson = False,
) -> int:
    """Check manifests and say exactly what is wrong with them."""
    results = [(name, _problems(name)) for name in _expand(paths)]
    if as_json:
        print_json([{"file": name, "problems": [vars(problem) for problem in problems]} for name, problems in results])
    else:
        for name, problems in results:
            for problem in problems:
                print(f"{problem}\n", file=sys.stderr)
            if not problems:
                print(f"{name}: right")
        wrong = sum(1 for _, problems in results if problems)
        if wrong:
            print(f"{wrong} of {len(results)} manifests have problems", file=sys.stderr)
    return int(any(problems for _, problems in results))


def _expand(paths: list[str]) -> list[str]:
    names: list[str] = []
    for path in paths:
        if Path(path).is_dir():
            found = sorted(str(file) for file in Path(path).rglob("*.y*ml") if file.suffix in (".yml", ".yaml"))
            if not found:
                raise ManifestError(Problem("there is no .yml or .yaml file in this folder", file=path))
            names += found
        else:
            names.append(path)
    return names


def _problems(name: str) -> tuple[Problem, ...]:
    from mlmodelscope.manifest.load import load_manifest, parse_manifest

    try:
        if name == "-":
            parse_manifest(sys.stdin.buffer.read(), "<stdin>")
        else:
            load_manifest(name)
    except ManifestError as error:
        return error.problems
    return ()

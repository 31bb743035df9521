"""`diff --weights`: the tensors of two files side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlmodelscope.cli.terminal import console, print_json, print_table
from mlmodelscope.errors import MLModelScopeError, UsageError

if TYPE_CHECKING:
    from mlmodelscope.diff.weights import WeightDifference, WeightPair
    from mlmodelscope.model_file.network import Weight
    from mlmodelscope.settings import Settings

NO_VERDICT = 3
_COLORS = {"same": "green", "different": "red", "undecided": "yellow"}
_MOST = 20
_MOST_NAME = 48


def compare_files(first: str, second: str, every: bool, as_json: bool, settings: Settings) -> int:
    from mlmodelscope.diff.weights import diff_weights
    from mlmodelscope.inspection.subject import files_of
    from mlmodelscope.model_file.describe import read_network

    try:
        files = [files_of(text, settings) for text in (first, second)]
        networks = [read_network(each.model, each.weights, each.key) for each in files]
    except UsageError:
        raise
    except MLModelScopeError as error:
        error.exit_code = NO_VERDICT
        raise
    found = diff_weights((files[0].name, files[1].name), networks[0], networks[1])
    if as_json:
        print_json(found.to_json())
    else:
        _show(found, every)
    return found.exit_code


def _show(found: WeightDifference, every: bool) -> None:
    from mlmodelscope.diff.weights import AGREEING
    from mlmodelscope.model_file.limit import clean

    out = console()
    for side, (label, name) in enumerate(zip("AB", found.names, strict=True)):
        total = found.to_json()["parameters"][side]
        out.print(clean(f"{label}: {name}, {total:,} parameters"), markup=False, soft_wrap=True)
    out.print(f"[bold {_COLORS[found.outcome]}]{found.outcome}[/]: ", end="")
    out.print(clean(found.sentence), markup=False, soft_wrap=True)
    shown = [pair for pair in found.pairs if every or pair.verdict not in AGREEING]
    rows = [_row(pair) for pair in (shown if every else shown[:_MOST])]
    if rows:
        titles = ["tensor of A", "tensor of B", "A", "B", "parameters", "verdict"]
        print_table(titles, rows, [False, False, False, False, True, False])
    if len(shown) > len(rows):
        out.print(f"{len(shown) - len(rows):,} more; --all lists every tensor", markup=False)
    for note in found.notes:
        out.print(clean(f"note: {note}"), style="yellow", markup=False, soft_wrap=True)


def _row(pair: WeightPair) -> list[str]:
    from mlmodelscope.model_file.limit import clean

    counts = [f"{held.count:,}" if held is not None else "–" for held in (pair.first, pair.second)]
    both = counts[0] if counts[0] == counts[1] else " / ".join(counts)
    said = f"{pair.verdict}: {pair.words}" if pair.words else pair.verdict
    names = [_shortened(clean(held.name)) if held is not None else "" for held in (pair.first, pair.second)]
    return [*names, _shape(pair.first), _shape(pair.second), both, clean(said)]


def _shortened(name: str) -> str:
    """TensorFlow Lite's names list all that was fused; --json has them whole."""
    return name if len(name) <= _MOST_NAME else f"{name[: _MOST_NAME // 2]}…{name[-_MOST_NAME // 2 :]}"


def _shape(weight: Weight | None) -> str:
    return "" if weight is None else f"[{', '.join(map(str, weight.shape))}]"

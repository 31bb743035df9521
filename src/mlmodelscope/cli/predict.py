"""`predict`: what does a model say of a picture, a sound, a text or a row?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlmodelscope.cli.choices import (
    BatchSize,
    DeviceName,
    ModelName,
    PredictorOption,
    RelaxFramework,
    SoftwareName,
    Threads,
    TopK,
    Trust,
    make_options,
)
from mlmodelscope.cli.terminal import AsJson, Offline, console, percent, print_json, seconds, settings, verb

if TYPE_CHECKING:
    from mlmodelscope.prediction import Prediction
    from mlmodelscope.worker.client import Stage

_MOST_STAGES = 3


@verb
def predict(
    model: ModelName,
    inputs: Annotated[
        list[str],
        typer.Argument(
            help="What the model takes: picture or sound files or URLs; texts; or rows of a table as "
            "name=value,name=value or JSON. - reads from standard input: one file, a text a line, or rows as JSON "
            "Lines or CSV with a header; for a language model one prompt.",
            metavar="INPUT...",
        ),
    ],
    pair: Annotated[
        str | None,
        typer.Option(
            help="The second text of every text, such as the context of a question; a tab inside a text does the same.",
            metavar="TEXT",
        ),
    ] = None,
    batch_size: BatchSize = 1,
    threads: Threads = 1,
    device: DeviceName = None,
    top_k: TopK = 5,
    option: PredictorOption = None,
    write: Annotated[
        list[str] | None,
        typer.Option(
            help="How a language model writes: longest=64, temperature=0.8, top_p=0.9, seed=1, stop=TEXT.",
            metavar="KEY=VALUE",
        ),
    ] = None,
    software: SoftwareName = None,
    relax_framework: RelaxFramework = False,
    trust: Trust = False,
    draw: Annotated[
        Path | None,
        typer.Option(
            help="Draw what was found into the images: a .png file for one, a folder for several. An enhanced picture "
            "is written as it is, and once more beside its input."
        ),
    ] = None,
    threshold: Annotated[
        float, typer.Option(help="Least score of what is shown and drawn; classes and --json always have all.")
    ] = 0.3,
    offline: Offline = False,
    as_json: AsJson = False,
) -> int:
    """Show a model's best answers for pictures, sounds, texts or rows; a language model writes as you read."""
    from mlmodelscope.cli.prediction_inputs import Arguments
    from mlmodelscope.cli.server_choice import remote
    from mlmodelscope.cli.written_text import WritingWatcher, settings_of, show_endings

    if draw is not None:
        from mlmodelscope.cli.prediction_drawing import check_drawing, draw_all

        check_drawing(draw, inputs)
    asked = Arguments(inputs, pair, needs_pictures=draw is not None)
    options = make_options(batch_size, threads, None, False, 0, top_k, option, device, relax_framework=relax_framework)
    there = remote()
    settled = settings_of(write or ())
    with WritingWatcher(is_shown=not as_json) as watcher:
        if there is not None:
            predictions = there.predict(
                model, asked, options, software=software, trust=trust, watcher=watcher, write=settled
            )
        else:
            from mlmodelscope.prediction import predict as run

            predictions = run(
                model,
                asked,
                options,
                write=settled,
                software=software,
                trust=trust,
                settings=settings(offline),
                watcher=watcher,
            )
    if as_json:
        # What is to be seen follows from the answer: programs have that with all its digits.
        print_json([_plain(each) for each in predictions])
    elif watcher.has_written:
        show_endings(predictions)
    else:
        for prediction in predictions:
            _show(prediction, threshold)
        _tell_names(model, predictions)
    if draw is not None:
        draw_all(predictions, draw, threshold, settings(offline))
    return int(any(prediction.error for prediction in predictions))


def _plain(prediction: Prediction) -> dict[str, Any]:
    plain = {name: value for name, value in asdict(prediction).items() if name != "shapes"}
    return {**plain, "value": prediction.value}


def _tell_names(model: str, predictions: Sequence[Prediction]) -> None:
    """A class that is called `1` may be a digit, or a place in the output that nobody has named."""
    from mlmodelscope.cli.server_choice import remote
    from mlmodelscope.manifest.catalog import find_model
    from mlmodelscope.manifest.schema import ModelManifest

    answered = [(number, name) for each in predictions for number, name in zip(each.classes, each.names, strict=True)]
    if not answered or any(name != str(number) for number, name in answered):
        return
    there = remote()
    is_file = model.endswith((".yml", ".yaml"))
    manifest = find_model(model) if there is None or is_file else there.shelf.find(ModelManifest, model)
    if not any(each.features_url for each in manifest.outputs):
        told = "classes are shown by number: the manifest names none; `features_url` of its output would"
        print(told, file=sys.stderr)


def _time(stages: Sequence[Stage]) -> str:
    """All of it, and what most of it was spent on."""
    longest = sorted(stages, key=lambda each: -each.duration_ns)[:_MOST_STAGES]
    told = ", ".join(f"{each.name} {seconds(each.duration_ns / 1e9)}" for each in longest)
    return f"{seconds(sum(each.duration_ns for each in stages) / 1e9)}: {told}"


def _show(prediction: Prediction, threshold: float) -> None:
    from rich.markup import escape

    out = console()
    out.print(f"[bold]{escape(prediction.image)}[/bold]", soft_wrap=True)
    if prediction.error:
        out.print(f"  [red]failed:[/red] {escape(prediction.error)}")
    elif prediction.shapes:
        from mlmodelscope.cli.prediction_table import show_shapes

        show_shapes(prediction.shapes, threshold)
    elif prediction.answer:
        out.print(f"  {escape(prediction.answer)}", soft_wrap=True)
    best = max(prediction.scores, default=0) or 1
    probabilities = all(0 <= score <= 1 for score in prediction.scores)
    for name, score in zip(prediction.names, prediction.scores, strict=True):
        bar = "█" * max(0, round(24 * score / max(best, 1e-9))) if best > 0 else ""
        shown = percent(score) if probabilities else f"{score:.3f}"
        out.print(f"  {shown:>8} [cyan]{bar:<24}[/cyan] {escape(name)}", soft_wrap=True)
    if prediction.stages:
        out.print(f"  [dim]{escape(_time(prediction.stages))}[/dim]", soft_wrap=True)

"""`predict`: what does a model say of an image?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlmodelscope.cli.choices import (
    BatchSize,
    DeviceName,
    ModelName,
    PredictorOption,
    SoftwareName,
    Threads,
    TopK,
    Trust,
    make_options,
)
from mlmodelscope.cli.terminal import AsJson, Offline, console, percent, print_json, print_table, settings, verb

if TYPE_CHECKING:
    from mlmodelscope.prediction import Prediction
    from mlmodelscope.settings import Settings
    from mlmodelscope.task.shape import Shape


@verb
def predict(
    model: ModelName,
    images: Annotated[list[str], typer.Argument(help="Image files or URLs.", metavar="IMAGE...")],
    batch_size: BatchSize = 1,
    threads: Threads = 1,
    device: DeviceName = None,
    top_k: TopK = 5,
    option: PredictorOption = None,
    software: SoftwareName = None,
    trust: Trust = False,
    draw: Annotated[
        Path | None,
        typer.Option(help="Draw what was found into the images: a .png file for one, a folder for several."),
    ] = None,
    threshold: Annotated[
        float, typer.Option(help="Least score of what is shown and drawn; classes and --json always have all.")
    ] = 0.3,
    offline: Offline = False,
    as_json: AsJson = False,
) -> int:
    """Show a model's best answers for images."""
    from mlmodelscope.cli.progress import TerminalWatcher
    from mlmodelscope.cli.server_choice import remote

    if draw is not None:
        _check_drawing(draw, images)
    options = make_options(batch_size, threads, None, False, 0, top_k, option, device)
    there = remote()
    with TerminalWatcher() as watcher:
        if there is not None:
            predictions = there.predict(model, images, options, software=software, trust=trust, watcher=watcher)
        else:
            from mlmodelscope.prediction import predict as run

            predictions = run(
                model, images, options, software=software, trust=trust, settings=settings(offline), watcher=watcher
            )
    if as_json:
        # What is to be seen follows from the answer: programs have that with all its digits.
        print_json([{name: value for name, value in asdict(each).items() if name != "shapes"} for each in predictions])
    else:
        for prediction in predictions:
            _show(prediction, threshold)
    if draw is not None:
        _draw(predictions, draw, threshold, settings(offline))
    return int(any(prediction.error for prediction in predictions))


def _show(prediction: Prediction, threshold: float) -> None:
    from rich.markup import escape

    out = console()
    out.print(f"[bold]{escape(prediction.image)}[/bold]", soft_wrap=True)
    if prediction.error:
        out.print(f"  [red]failed:[/red] {escape(prediction.error)}")
    elif prediction.shapes:
        _show_shapes(prediction.shapes, threshold)
    elif prediction.answer:
        out.print(f"  {escape(prediction.answer)}", soft_wrap=True)
    best = max(prediction.scores, default=0) or 1
    probabilities = all(0 <= score <= 1 for score in prediction.scores)
    for name, score in zip(prediction.names, prediction.scores, strict=True):
        bar = "█" * max(0, round(24 * score / max(best, 1e-9))) if best > 0 else ""
        shown = percent(score) if probabilities else f"{score:.3f}"
        out.print(f"  {shown:>8} [cyan]{bar:<24}[/cyan] {escape(name)}", soft_wrap=True)


def _show_shapes(shapes: Sequence[Shape], threshold: float) -> None:
    """A row for each; a column where any of them has something for it."""
    from mlmodelscope.task.shape import is_shown

    shown = [each for each in shapes if is_shown(each, threshold)]
    rows = [(each.name or each.kind, _score(each), _where(each)) for each in shown]
    columns = ("class", "score", "box" if {each.kind for each in shown} == {"box"} else "where")
    kept = [place for place in range(3) if any(row[place] for row in rows)]
    if rows:
        cells = [[row[place] for place in kept] for row in rows]
        print_table([columns[place] for place in kept], cells, [place == 1 for place in kept])
    hidden = len(shapes) - len(shown)
    if hidden:
        some = f"{hidden:,} more with a score" if rows else f"all {hidden:,} answers have a score"
        console().print(f"  [dim]{some} below {threshold:g}; --threshold 0 shows all[/dim]")


def _score(shape: Shape) -> str:
    return "" if shape.score is None else f"{shape.score:.3f}"


def _where(shape: Shape) -> str:
    from mlmodelscope.task.shape import BoxShape, PointsShape, TextShape

    if isinstance(shape, BoxShape):
        return f"{shape.left:.1f}, {shape.top:.1f} – {shape.right:.1f}, {shape.bottom:.1f}"
    if isinstance(shape, PointsShape):
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in shape.points)
    return shape.text if isinstance(shape, TextShape) else ""


def _draw(predictions: Sequence[Prediction], place: Path, threshold: float, found: Settings) -> None:
    """One file for one image, else a folder with a file for each."""
    from mlmodelscope.errors import StoreError, UsageError
    from mlmodelscope.provision.artifact import ArtifactStore
    from mlmodelscope.report.drawing import draw
    from mlmodelscope_worker.pipeline.header import ImageError

    artifacts = ArtifactStore(found)
    is_file = place.suffix.lower() == ".png" and not place.is_dir()
    taken: set[str] = set()
    for number, each in enumerate(predictions):
        if each.error:
            continue
        stem = Path(each.image).stem or "image"
        name = stem if stem not in taken else f"{stem}-{number + 1}"
        taken.add(name)
        destination = place if is_file else place / f"{name}.png"
        try:
            drawn = draw(artifacts.fetch(each.image).path.read_bytes(), each.shapes, threshold)
            destination.parent.mkdir(parents=True, exist_ok=True)
            destination.write_bytes(drawn)
        except ImageError as error:
            raise UsageError(f"cannot draw into {each.image}: {error}") from None
        except OSError as error:
            raise StoreError(f"cannot write {destination}: {error.strerror}") from None
        print(f"wrote {destination}", file=sys.stderr)


def _check_drawing(place: Path, images: Sequence[str]) -> None:
    """Before minutes are spent on answers."""
    from mlmodelscope.errors import UsageError
    from mlmodelscope.report.drawing import refuse_without_pillow

    refuse_without_pillow()
    if place.suffix and place.suffix.lower() != ".png" and not place.is_dir():
        raise UsageError(f"--draw writes PNG files, not {place.suffix}", hint=f"--draw {place.with_suffix('.png')}")
    if place.suffix and len(images) > 1 and not place.is_dir():
        raise UsageError(f"--draw {place} is one file, for {len(images)} images", hint="--draw FOLDER")

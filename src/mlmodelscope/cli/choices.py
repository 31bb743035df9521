"""The options that several verbs share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlmodelscope.errors import UsageError

if TYPE_CHECKING:
    from mlmodelscope.plan.options import Options

RecordName = Annotated[str, typer.Argument(help="A record's id, the beginning of it, or `latest`.")]
ModelName = Annotated[
    str,
    typer.Argument(help="A model's name, name@constraint, id or digest, or the path of its manifest.", metavar="MODEL"),
]
DatasetName = Annotated[
    str | None,
    typer.Argument(
        help="A dataset's name, name@constraint, id or digest, or the path of its manifest; by default the one that "
        "the model names.",
        metavar="DATASET",
    ),
]
SoftwareName = Annotated[
    str | None,
    typer.Option(
        "--software",
        "--stack",
        help="A software manifest, by name or path; `current` for this Python, `image:NAME` for a container image.",
    ),
]
StackNames = Annotated[
    str | None,
    typer.Option(
        "--stacks",
        help="Several stacks in turn, comma-separated, also of other frameworks that read the model's file; all are "
        "checked before one is built. `all` stands for those that are built and read it.",
        metavar="NAME,NAME",
    ),
]
HardwareName = Annotated[str | None, typer.Option("--hardware", help="A hardware manifest, by name or path.")]
Trust = Annotated[bool, typer.Option("--trust", help="Let the code in the manifests run, this once.")]
RelaxFramework = Annotated[
    bool,
    typer.Option(
        "--relax-framework",
        help="Take the framework's nearest release where the one that the manifest pins cannot be had; the record "
        "says so.",
    ),
]
BatchSize = Annotated[int, typer.Option(help="Samples that the model gets at once.", min=1)]
Threads = Annotated[int, typer.Option(help="Threads inside one call of the framework.", min=1)]
DeviceName = Annotated[
    str | None,
    typer.Option("--device", help="Where the model runs: cpu, cuda, cuda:1; by default the predictor's own."),
]
Limit = Annotated[int | None, typer.Option(help="Take only so many samples.", min=1)]
Stratified = Annotated[bool, typer.Option("--stratified", help="With --limit: the same share of every class.")]
Seed = Annotated[int, typer.Option(help="Seed of every random choice.")]
TopK = Annotated[int, typer.Option(help="Answers kept for each sample.", min=1)]
PredictorOption = Annotated[
    list[str] | None,
    typer.Option("--option", help="Option of the predictor, such as graph_optimization=basic.", metavar="KEY=VALUE"),
]


def make_options(
    batch_size: int,
    threads: int,
    limit: int | None,
    stratified: bool,
    seed: int,
    top_k: int,
    predictor_options: list[str] | None,
    device: str | None = None,
    relax_framework: bool = False,
) -> Options:
    from mlmodelscope.plan.options import Options

    chosen = dict(pair(text) for text in predictor_options or ())
    if device is not None and chosen.setdefault("device", device) != device:
        raise UsageError(f"--device says {device}, --option says device={chosen['device']}")
    return Options(
        batch_size=batch_size,
        threads=threads,
        limit=limit,
        stratified=stratified,
        seed=seed,
        top_k=top_k,
        predictor_options=chosen,
        relax_framework=relax_framework,
    )


def pair(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"`{text}` is not of the form KEY=VALUE")
    for kind in (int, float):
        try:
            return key, kind(value)
        except ValueError:
            continue
    return key, {"true": True, "false": False}.get(value.lower(), value)

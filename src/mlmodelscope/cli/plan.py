"""`plan`: what would happen, without doing it."""

from __future__ import annotations

from typing import Annotated

import typer

from mlmodelscope.cli.choices import (
    BatchSize,
    DatasetName,
    DeviceName,
    HardwareName,
    Limit,
    ModelName,
    PredictorOption,
    RelaxFramework,
    Seed,
    SoftwareName,
    Stratified,
    Threads,
    TopK,
    make_options,
)
from mlmodelscope.cli.terminal import AsJson, Offline, print_json, settings, verb


@verb
def plan(
    model: ModelName,
    dataset: DatasetName = None,
    software: SoftwareName = None,
    relax_framework: RelaxFramework = False,
    hardware: HardwareName = None,
    batch_size: BatchSize = 1,
    threads: Threads = 1,
    device: DeviceName = None,
    limit: Limit = None,
    stratified: Stratified = False,
    seed: Seed = 0,
    top_k: TopK = 5,
    option: PredictorOption = None,
    digest: Annotated[bool, typer.Option("--digest", help="Print the plan's digest only.")] = False,
    offline: Offline = False,
    as_json: AsJson = True,
) -> None:
    """Print the plan of an evaluation: every default resolved, every file by its digest."""
    from mlmodelscope.preparation import ask

    options = make_options(
        batch_size, threads, limit, stratified, seed, top_k, option, device, relax_framework=relax_framework
    )
    asked = ask(model, dataset, options, software=software, hardware=hardware, settings=settings(offline), trust=True)
    made = asked.plan()  # nothing is run
    if digest:
        print(made.digest)
    else:
        print_json({"digest": made.digest, **made.model_dump(mode="json")})

"""`schema`: JSON Schema for editors and programs."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from mlmodelscope.cli.terminal import AsJson, print_json, verb


class Kind(StrEnum):
    model = "model"
    dataset = "dataset"
    software = "software"
    hardware = "hardware"
    log = "log"
    reproduction = "reproduction"
    plan = "plan"
    record = "record"


@verb
def schema(
    kind: Annotated[Kind, typer.Argument(help="What the schema is of.")] = Kind.model,
    as_json: AsJson = True,
) -> None:
    """Print the JSON Schema of a manifest, plan or record."""
    from mlmodelscope.manifest.json_schema import manifest_schema
    from mlmodelscope.plan.plan import Plan
    from mlmodelscope.record.record import Record

    if kind is Kind.plan:
        print_json(Plan.model_json_schema())
    elif kind is Kind.record:
        print_json(Record.model_json_schema())
    else:
        print_json(manifest_schema(kind.value))

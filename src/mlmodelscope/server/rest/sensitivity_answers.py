"""What the API answers about what pitfalls would cost."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from mlmodelscope.ledger.request import Request
from mlmodelscope.replicate.sensed import Sensed
from mlmodelscope.server.rest.evaluation_answers import Evaluation


class SensitivityRequest(Request):
    """A model whose pitfalls are measured: `arguments` may name them, and say that it must be exact."""

    kind: Literal["sensitivity"] = "sensitivity"


class SensitivityOf(Evaluation):
    found: Annotated[Sensed | None, Field(description="When it has finished.")]

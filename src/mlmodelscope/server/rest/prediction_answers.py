"""What the API answers when a model is asked."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mlmodelscope.ledger.prediction import Answered, Posed

_EXAMPLE: dict[str, Any] = {
    "classes": [281, 282],
    "names": ["tabby", "tiger cat"],
    "scores": [0.62, 0.21],
    "answer": None,
    "stages": [{"name": "decode", "duration_ns": 1200000}, {"name": "run", "duration_ns": 9800000}],
    "model": "efficientnet-lite0",
    "version": "1.0.0",
    "plan_digest": "0" * 64,
    "stack": "current",
    "packages": {"onnxruntime": "1.23.0"},
    "warm": True,
    "load_ns": None,
    "wall_ns": 14100000,
    "agent": "lab-1",
}


class Prediction(Answered):
    """What a model says, and where and how long it thought."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra={"examples": [_EXAMPLE]})
    agent: Annotated[str, Field(description="Who answered.")]


class Limits(BaseModel):
    """What a model may be asked about."""

    model_config = ConfigDict(
        frozen=True, json_schema_extra={"examples": [{"largest_input": 16777216, "longest_s": 600, "trusts": False}]}
    )
    largest_input: Annotated[int, Field(description="Bytes that an input may have.")]
    longest_s: Annotated[float, Field(description="Seconds that one may wait for an answer.")]
    trusts: Annotated[bool, Field(description="Whether some agent runs code in manifests for those who may.")]


class PosedPrediction(Posed):
    """A prediction for an agent, with what came with the question."""

    content: Annotated[str | None, Field(description="The input in base64; not there where it has a `url`.")] = None


class TakenPrediction(BaseModel):
    model_config = ConfigDict(frozen=True)
    prediction: Annotated[PosedPrediction | None, Field(description="None where nothing came for so long.")]


class ToldPrediction(BaseModel):
    """How a prediction goes."""

    model_config = ConfigDict(frozen=True, extra="allow")
    kind: Literal["downloading", "building", "opening", "opened", "piece"]
    text: Annotated[str | None, Field(max_length=4000)] = None
    name: Annotated[str | None, Field(max_length=1000)] = None
    done: Annotated[int | None, Field(ge=0)] = None
    of: Annotated[int | None, Field(ge=0)] = None

    def facts(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude_unset=True)

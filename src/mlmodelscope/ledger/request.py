"""What somebody asks for, and what an agent is then told to do."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from mlmodelscope.ledger.arguments import ARGUMENTS
from mlmodelscope.manifest.schema import HardwareManifest

Kind = Literal["evaluate", "bench", "profile", "train", "replicate", "sensitivity"]
TIMED: frozenset[str] = frozenset({"bench", "profile"})
"""Kinds whose numbers are about time: nothing else may run beside them."""


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Inline(Part):
    """A manifest that comes with the request."""

    text: Annotated[str, Field(max_length=1_000_000, description="The manifest, YAML or JSON, in any dialect.")]


ManifestChoice = Annotated[str, Field(min_length=1, max_length=300)] | Inline
"""A manifest by name, `name@constraint`, id or digest, a dataset also with `:split`; or the manifest itself."""


class FrameworkChoice(Part):
    name: Annotated[str, Field(max_length=100, examples=["tensorflow"])]
    version: Annotated[str, Field(max_length=100, description="A constraint.", examples=[">=1.10.x and <=1.13.0"])] = (
        "*"
    )


def _named(value: Any) -> Any:
    return {"name": "constraints", "version": "1.0.0", **value} if isinstance(value, dict) else value


class Where(Part):
    """Which agents will do. What is unspecified does not matter."""

    agent: Annotated[str | None, Field(max_length=100, description="This one.")] = None
    hardware: Annotated[
        HardwareManifest | None,
        BeforeValidator(_named),
        Field(description="Constraints, as in a hardware manifest; it needs no name."),
    ] = None
    framework: FrameworkChoice | None = None
    stack: Annotated[str | None, Field(max_length=200, description="A stack that is built there or can be.")] = None
    labels: Annotated[dict[str, str], Field(max_length=50, description="Labels that the agent has.")] = {}


class Request(Part):
    """What is asked for: a kind of work, the manifests, options, and where it may run."""

    kind: Kind = "evaluate"
    model: ManifestChoice
    dataset: ManifestChoice | None = None
    software: ManifestChoice | None = None
    hardware: ManifestChoice | None = None
    options: Annotated[dict[str, Any], Field(description="As the library's `Options`: batch_size, limit, seed …")] = {}
    arguments: Annotated[
        dict[str, Any], Field(description="What this kind of work takes beside: scenario, level …")
    ] = {}
    where: Where = Where()
    agents: Literal["one", "all"] = Field(default="one", description="One agent that fits, or every one.")
    shards: Annotated[int, Field(ge=1, le=10_000, description="Parts that the samples are split into.")] = 1
    trust: bool = Field(default=False, description="Let code in the manifests run; needs the scope `trust`.")
    again: bool = Field(default=False, description="Run even if there is a record already.")
    priority: Annotated[int, Field(ge=0, le=9, description="Nine comes first.")] = 5
    timeout_s: Annotated[int | None, Field(ge=1, le=30 * 86_400, description="Seconds that it may run.")] = None
    attempts: Annotated[int, Field(ge=1, le=20, description="How often it is begun before it has failed.")] = 5
    budget_s: Annotated[
        int | None,
        Field(ge=1, le=30 * 86_400, description="Seconds of agents' time that all its attempts and parts may take."),
    ] = None
    wait_for_agent: bool = Field(default=False, description="Where no agent fits yet, wait until one joins.")

    @model_validator(mode="after")
    def _check(self) -> Request:
        ARGUMENTS[self.kind].model_validate(self.arguments)
        if self.shards > 1 and self.kind != "evaluate":
            raise ValueError(f"only an evaluation can be done in parts, not {self.kind}")
        if self.wait_for_agent and self.agents == "all":
            raise ValueError("`wait_for_agent` waits for one agent; who all of them are is known only when it is asked")
        return self


class Shard(Part):
    """Some of a dataset's batches."""

    number: int
    of: int


class Work(Part):
    """One evaluation, as an agent gets it: manifests as text, nothing left to look up."""

    kind: Kind | Literal["shard", "join"]
    model: str
    dataset: str | None = None
    split: str | None = Field(default=None, description="Which of the dataset's splits, where it has several.")
    software: str | None = Field(default=None, description="Text of a software manifest, `current` or `image:NAME`.")
    hardware: str | None = None
    framework: str | None = Field(
        default=None, description="Constraint on the model's framework, beside the one of its manifest."
    )
    options: dict[str, Any] = {}
    arguments: dict[str, Any] = {}
    trust: bool = False
    again: bool = False
    attempts: int = 5
    shard: Shard | None = None
    public_only: bool = Field(
        default=False, description="Who asked is a stranger: what manifests name is fetched from public places only."
    )

    @model_serializer(mode="wrap")
    def _for_older_agents(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """What is not asked for is not mentioned: agents of older releases refuse what they do not know."""
        written: dict[str, Any] = write(self)
        for name in ("split", "framework"):
            if getattr(self, name) is None:
                written.pop(name, None)
        return written

    def trusted_by(self, operator: bool) -> Work:
        """The same for an agent whose operator trusts others, or not: a server's word alone lets no code run."""
        return self if operator or not self.trust else self.model_copy(update={"trust": False})


class Failure(Part):
    """Why an evaluation came to nothing."""

    kind: str
    message: str
    hint: str | None = None

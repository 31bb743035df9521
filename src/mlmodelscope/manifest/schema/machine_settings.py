"""How a machine is to be set while something runs on it. Each setting may be marked optional."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from mlmodelscope.manifest.schema.part import Part, text_as_written

Value = TypeVar("Value")
INTERLEAVE = "interleave"


class Chosen(Part, Generic[Value]):
    """A setting's value, and whether it may be left when the machine does not allow it."""

    value: Value
    optional: bool = False


def parse_cpus(text: str) -> frozenset[int]:
    """Processors or nodes as the kernel lists them: `0-3,8`."""
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = (word.strip() for word in part.partition("-"))
        if not part.strip():
            continue
        if not (first.isdecimal() and first.isascii()) or (dash and not (last.isdecimal() and last.isascii())):
            raise ValueError(f"`{text[:60]}` is not a list of processors such as 0-3,8")
        start, end = int(first), int(last or first)
        if not start <= end < 1 << 20:
            raise ValueError(f"`{text[:60]}` is not a list of processors such as 0-3,8")
        found.update(range(start, end + 1))
    return frozenset(found)


def spell_cpus(cpus: frozenset[int] | set[int]) -> str:
    """`0-3,8`, as the kernel spells it."""
    spans: list[list[int]] = []
    for cpu in sorted(cpus):
        if spans and cpu == spans[-1][1] + 1:
            spans[-1][1] = cpu
        else:
            spans.append([cpu, cpu])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def _chosen(written: Any) -> Any:
    """`governor: performance` says the same as `governor: {value: performance}`."""
    if written is None or isinstance(written, Chosen) or (isinstance(written, Mapping) and "value" in written):
        return written
    return {"value": written}


def _on_or_off(value: Any) -> Any:
    return {"on": True, "off": False}.get(value.lower(), value) if isinstance(value, str) else value


def _list(value: Any) -> Any:
    """A list of processors may be written as one."""
    if isinstance(value, (list, tuple)):
        return ",".join(str(text_as_written(item)) for item in value)
    return text_as_written(value)


def _cpus(text: str) -> str:
    found = parse_cpus(text)
    if not found:
        raise ValueError("an empty list leaves no processor to run on")
    return spell_cpus(found)


def _nodes(text: str) -> str:
    return text if text == INTERLEAVE else _cpus(text)


def _clocks(value: Any) -> Any:
    return {"graphics": value} if isinstance(value, int) and not isinstance(value, bool) else value


class GpuClocks(Part):
    """Frequencies that a GPU is held at; at least one of them."""

    graphics: Annotated[int | None, Field(ge=1, le=100_000, description="Of its cores, in MHz.")] = None
    memory: Annotated[int | None, Field(ge=1, le=100_000, description="Of its memory, in MHz.")] = None


def _some_clock(clocks: GpuClocks) -> GpuClocks:
    if clocks.graphics is None and clocks.memory is None:
        raise ValueError("neither `graphics` nor `memory` is given")
    return clocks


def _schema(bare: dict[str, Any]) -> WithJsonSchema:
    """A value alone, or with `optional` beside it."""
    whole = {
        "type": "object",
        "properties": {"value": bare, "optional": {"type": "boolean"}},
        "required": ["value"],
        "additionalProperties": False,
    }
    return WithJsonSchema({"anyOf": [bare, whole, {"type": "null"}]})


_SWITCH = {"anyOf": [{"type": "boolean"}, {"enum": ["on", "off"]}]}
_CPUS = {"anyOf": [{"type": ["string", "integer"]}, {"type": "array", "items": {"type": ["string", "integer"]}}]}
_MEGAHERTZ = {"type": "integer", "minimum": 1, "maximum": 100_000}
_CLOCKS = {
    "anyOf": [
        _MEGAHERTZ,
        {
            "type": "object",
            "properties": {"graphics": _MEGAHERTZ, "memory": _MEGAHERTZ},
            "additionalProperties": False,
            "minProperties": 1,
        },
    ]
}

Word = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,30}$")]
Switch = Annotated[bool, BeforeValidator(_on_or_off)]
Cpus = Annotated[str, BeforeValidator(_list), AfterValidator(_cpus)]
Nodes = Annotated[str, BeforeValidator(_list), AfterValidator(_nodes)]
Clocks = Annotated[GpuClocks, BeforeValidator(_clocks), AfterValidator(_some_clock)]


INSTRUCTION_SETS = ("sse4.2", "avx", "avx2", "avx512", "avx512_vnni", "avx512_bf16", "amx")


def _level(value: Any) -> Any:
    """`AVX-512` and `SSE4_2` are the same words."""
    spelled = value.lower().replace("-", "").replace(" ", "") if isinstance(value, str) else value
    return {"sse4_2": "sse4.2", "sse42": "sse4.2"}.get(spelled, spelled) if isinstance(spelled, str) else value


InstructionSets = Annotated[
    Literal["sse4.2", "avx", "avx2", "avx512", "avx512_vnni", "avx512_bf16", "amx"], BeforeValidator(_level)
]
_OURS_ALONE = ("cpu_affinity", "numa", "threads", "instruction_sets")
"""What concerns our own processes only."""


class MachineSettings(Part):
    """How the machine is set while a task runs. It is set back afterwards."""

    governor: Annotated[
        Chosen[Word] | None,
        BeforeValidator(_chosen),
        _schema({"type": "string"}),
        Field(description="Who chooses the processors' frequency, such as `performance`."),
    ] = None
    turbo: Annotated[
        Chosen[Switch] | None,
        BeforeValidator(_chosen),
        _schema(_SWITCH),
        Field(description="Whether processors may exceed their nominal frequency."),
    ] = None
    smt: Annotated[
        Chosen[Switch] | None,
        BeforeValidator(_chosen),
        _schema(_SWITCH),
        Field(description="Whether a core runs more than one thread."),
    ] = None
    gpu_clocks: Annotated[
        Chosen[Clocks] | None,
        BeforeValidator(_chosen),
        _schema(_CLOCKS),
        Field(description="MHz that every GPU's cores are held at, or `{graphics: …, memory: …}`."),
    ] = None
    cpu_affinity: Annotated[
        Chosen[Cpus] | None,
        BeforeValidator(_chosen),
        _schema(_CPUS),
        Field(description="Processors that the task runs on, such as `0-3,8`."),
    ] = None
    numa: Annotated[
        Chosen[Nodes] | None,
        BeforeValidator(_chosen),
        _schema(_CPUS),
        Field(description="Nodes whose processors and memory are used, such as `0`; `interleave` spreads memory."),
    ] = None
    threads: Annotated[
        Chosen[Annotated[int, Field(ge=1)]] | None,
        BeforeValidator(_chosen),
        _schema({"type": "integer", "minimum": 1}),
        Field(description="Threads inside one call of the framework, as --threads says it."),
    ] = None
    instruction_sets: Annotated[
        Chosen[InstructionSets] | None,
        BeforeValidator(_chosen),
        _schema({"enum": list(INSTRUCTION_SETS)}),
        Field(description="The most that libraries use of the processor's vector instructions, such as `avx2`."),
    ] = None

    @property
    def chosen(self) -> dict[str, Chosen[Any]]:
        """What is set at all, by name."""
        return {name: each for name in type(self).model_fields if (each := getattr(self, name)) is not None}

    @property
    def reaches_beyond_us(self) -> dict[str, Chosen[Any]]:
        """What changes the machine for everybody on it, and so needs trust."""
        return {name: each for name, each in self.chosen.items() if name not in _OURS_ALONE}

"""What a comparison of two models came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from mlmodelscope.diff.bisect import PartFinding
from mlmodelscope.diff.finding import FirstDifference
from mlmodelscope.diff.pairing import LayerPair
from mlmodelscope.diff.reading import Held
from mlmodelscope.layer.feature_maps import FeatureMaps

Outcome = Literal["same", "different", "undecided", "no verdict"]
EXIT_CODES: Mapping[Outcome, int] = {"same": 0, "different": 1, "undecided": 2, "no verdict": 3}


@dataclass(frozen=True)
class SideFacts:
    model: str
    stack: str
    predictor: str
    layers: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Fault:
    """What the first layer that differs looks like."""

    kind: str
    words: str
    node: str
    """Which of the layers it is in, where several were fused."""
    by: str
    """How that is known."""


@dataclass(frozen=True)
class Difference:
    outcome: Outcome
    sentence: str
    sides: tuple[SideFacts, ...]
    pairs: tuple[LayerPair, ...] = ()
    first: FirstDifference | None = None
    faults: tuple[Fault, ...] = ()
    """The best explanation first."""
    notes: tuple[str, ...] = field(default=())
    parts: tuple[PartFinding, ...] = ()
    """Pipeline, model and answer, where samples were compared."""
    maps: FeatureMaps | None = None
    """What the first layer that differs looks like on both sides."""

    @property
    def named(self) -> str | None:
        """The layer at fault: the one that explains the difference, where several were fused, or the first that
        differs."""
        if self.faults and self.faults[0].node:
            return self.faults[0].node
        return self.first.pair.name if self.first is not None else None

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.outcome]

    def to_json(self) -> dict[str, Any]:
        return {
            "outcome": self.outcome,
            "sentence": self.sentence,
            "a": asdict(self.sides[0]) if self.sides else None,
            "b": asdict(self.sides[1]) if len(self.sides) > 1 else None,
            "first_difference": None if self.first is None else _first(self.first),
            "faults": [asdict(each) for each in self.faults],
            "parts": [asdict(each) for each in self.parts],
            "layers": [_pair(pair) for pair in self.pairs],
            "notes": list(self.notes),
        }


def _first(first: FirstDifference) -> dict[str, Any]:
    return {
        **_pair(first.pair),
        "place": first.place,
        "words": first.words,
        "last_agreeing": first.last_agreeing.name if first.last_agreeing is not None else None,
        "group_a": [each.name for each in first.first_group],
        "group_b": [each.name for each in first.second_group],
    }


def _pair(pair: LayerPair) -> dict[str, Any]:
    return {
        "a": _held(pair.first),
        "b": _held(pair.second),
        "is_output": pair.is_output,
        "verdict": pair.verdict,
        "off": _finite(pair.off) if pair.apart is not None else None,
        "tolerance": pair.tolerance if pair.apart is not None else None,
        "apart": None if pair.apart is None else {**asdict(pair.apart), "relative": _finite(pair.apart.relative)},
    }


def _held(held: Held | None) -> dict[str, Any] | None:
    if held is None:
        return None
    return {
        "name": held.name,
        "layer": held.layer or None,
        "kind": held.kind or None,
        "shape": list(held.shape),
        "element_type": held.element_type,
    }


def _finite(value: float) -> float | None:
    return value if value < float("inf") else None

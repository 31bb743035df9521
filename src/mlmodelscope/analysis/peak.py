"""The machine's best: what was measured beside a profile, and how long a layer would take at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

Bound = Literal["compute", "memory"]
_PREFIX = "peak."


@dataclass(frozen=True)
class Peak:
    flops_per_s: float
    bytes_per_s: float
    threads: int
    device: str
    how: str
    """What was run to find out, in words."""

    @property
    def intensity(self) -> float:
        """Operations for each byte at which neither waits for the other: the ridge of the roof."""
        return self.flops_per_s / self.bytes_per_s

    def ideal_ns(self, flops: float, moved_bytes: float) -> float:
        """No implementation takes less, unless its tensors are in a cache."""
        return 1e9 * max(flops / self.flops_per_s, moved_bytes / self.bytes_per_s)

    def bound(self, flops: float, moved_bytes: float) -> Bound:
        """What holds it up, once it runs as well as it could."""
        return "compute" if flops / self.flops_per_s >= moved_bytes / self.bytes_per_s else "memory"

    def to_resource(self) -> dict[str, str]:
        """As attributes of a trace, which are words."""
        return {
            f"{_PREFIX}flops_per_s": repr(self.flops_per_s),
            f"{_PREFIX}bytes_per_s": repr(self.bytes_per_s),
            f"{_PREFIX}threads": str(self.threads),
            f"{_PREFIX}device": self.device,
            f"{_PREFIX}how": self.how,
        }

    @classmethod
    def from_resource(cls, resource: Mapping[str, str]) -> Self | None:
        """None where a trace has none, as those of before had."""
        try:
            flops, moved = (float(resource[f"{_PREFIX}{name}"]) for name in ("flops_per_s", "bytes_per_s"))
        except (KeyError, ValueError):
            return None
        if not (flops > 0 and moved > 0):
            return None
        said = {name: resource.get(f"{_PREFIX}{name}", "") for name in ("threads", "device", "how")}
        return cls(flops, moved, int(said["threads"] or 1), said["device"], said["how"])

    @classmethod
    def from_worker(cls, said: Mapping[str, Any]) -> Self | None:
        """What a worker measured; None where it could not."""
        if "problem" in said:
            return None
        return cls(said["flops_per_s"], said["bytes_per_s"], said["threads"], said["device"], said["how"])

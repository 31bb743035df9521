"""What a stack consists of, and its identity: the same content is the same stack, whatever it is called."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from mlmodelscope.manifest.schema import SoftwareManifest


@dataclass(frozen=True)
class StackSpecification:
    """A Python environment, exactly."""

    name: str
    python: str
    requirements: tuple[str, ...]
    find_links: tuple[str, ...] = ()
    index_url: str | None = None

    @classmethod
    def of(cls, software: SoftwareManifest) -> StackSpecification:
        stack = software.stack
        assert stack is not None
        return cls(software.name, stack.python, stack.requirements, stack.find_links, stack.index_url)

    @property
    def content(self) -> dict[str, Any]:
        return {"python": self.python, "requirements": list(self.requirements), "find_links": list(self.find_links)}

    @property
    def digest(self) -> str:
        text = json.dumps(self.content, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

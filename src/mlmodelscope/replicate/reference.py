"""The claimant's side: a reference log with its numbers and, where it has them, its answer to every sample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mlmodelscope.errors import UsageError
from mlmodelscope.manifest.catalog import find_manifest
from mlmodelscope.manifest.schema import ReferenceLog
from mlmodelscope.manifest.schema.log import Expected, ManifestReference
from mlmodelscope.plan.claim import Claim
from mlmodelscope.plan.options import Options
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.log import options_of, read_outputs
from mlmodelscope.settings import Settings
from mlmodelscope.task.class_answer import ClassAnswer
from mlmodelscope.task.measure import MEASURES

LogSource = str | Path | ReferenceLog


@dataclass(frozen=True)
class Reference:
    log: ReferenceLog
    outputs: dict[str, Expected]

    @property
    def model(self) -> str:
        return _name(self.log.manifests.model)

    @property
    def dataset(self) -> str | None:
        found = self.log.manifests.dataset
        return _name(found) if found is not None else None

    @property
    def options(self) -> Options:
        return options_of(self.log)

    @property
    def claims(self) -> list[Claim]:
        """Its numbers that can be checked, with as many digits as its samples allow."""
        known = {name: self.log.metrics[name].value for name in sorted(self.log.metrics) if name in MEASURES}
        if not known:
            raise UsageError(f"{self.log.reference} has no number that can be checked; known: {', '.join(MEASURES)}")
        # Scores differ a little between machines, and so do numbers that are made of them.
        shares = [name for name in known if MEASURES[name].outcome is not None] or list(known)[:1]
        return [
            Claim(
                name, f"{MEASURES[name].unit.factor * known[name]:.{self._digits}f}", self.dataset, self.log.reference
            )
            for name in shares
        ]

    @property
    def _digits(self) -> int:
        """One sample more or less must be another number."""
        return max(2, math.floor(math.log10(max(1, self.log.samples or 1))) - 1)

    def answers_to(self, samples: Sequence[str]) -> dict[int, ClassAnswer]:
        """Its answers by the number that a sample has here."""
        found = ((at, self.outputs.get(name)) for at, name in enumerate(samples))
        return {at: ClassAnswer(row.classes, row.scores) for at, row in found if row is not None and row.classes}


def read_reference(log: LogSource, settings: Settings) -> Reference:
    """A log by file or name; its table of outputs is fetched and its checksum checked."""
    found = find_manifest(ReferenceLog, log)
    if found.job_type == "training":
        raise UsageError(f"{found.reference} is of a training", hint="mlmodelscope replay trains again and compares")
    table = None
    if found.outputs is not None and found.outputs.url is not None:
        table = ArtifactStore(settings).fetch(found.outputs.url, found.outputs.checksum).path
    return Reference(found, read_outputs(found, table))


def _name(reference: ManifestReference) -> str:
    return reference.reference

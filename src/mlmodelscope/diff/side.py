"""One side of a comparison: a model, where it runs, and how it is asked for its layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.dataset.sample import Sample
from mlmodelscope.diff.reading import Held, Reading, Steps, reading_of, steps_of
from mlmodelscope.errors import UsageError
from mlmodelscope.layer.rounding import computed_in
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.prediction import LOOSE_IMAGES
from mlmodelscope.preparation import Asked, DatasetSource, ModelSource, SoftwareSource, ask
from mlmodelscope.provision.site import provision
from mlmodelscope.settings import Settings
from mlmodelscope.watcher import Watcher
from mlmodelscope.worker.answers import Answers
from mlmodelscope.worker.client import Worker
from mlmodelscope_worker.messages import ReadLayers, ReadSteps

_GIVES_BACK = {"MALLOC_MMAP_THRESHOLD_": str(1 << 18), "MALLOC_TRIM_THRESHOLD_": str(1 << 18)}
"""For glibc: the memory of a layer that was read goes back to the system, and is not kept beside the next ones."""


@dataclass(frozen=True)
class SideRequest:
    """What a user says of one side."""

    model: ModelSource
    software: SoftwareSource | None = None
    predictor_options: Mapping[str, Any] = field(default_factory=dict)
    threads: int = 1


@dataclass(frozen=True)
class Place:
    """What both sides have in common."""

    settings: Settings
    watcher: Watcher
    trust: bool
    folder: Path
    """For the tensors of both."""
    most_bytes: int
    """How much each side may write there."""


@dataclass(frozen=True)
class RandomInput:
    """Numbers by chance, in place of samples."""

    seed: int = 0
    batch_size: int = 1
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """By the name of the input, or for all of them by an empty name."""

    def described(self) -> dict[str, Any]:
        shapes = {name: list(shape) for name, shape in self.shapes.items()}
        return {"seed": self.seed, "batch_size": self.batch_size, "shapes": shapes}


class Side:
    """A model that can be asked. `label` is A or B."""

    def __init__(
        self, label: str, asked: SideRequest, dataset: DatasetSource | None, samples: int, place: Place
    ) -> None:
        self.label = label
        self.has_samples = dataset is not None
        options = Options(
            limit=samples if dataset is not None else None,
            threads=asked.threads,
            predictor_options=dict(asked.predictor_options),
        )
        self._asked: Asked = ask(
            asked.model,
            dataset if dataset is not None else LOOSE_IMAGES,
            options,
            software=asked.software,
            settings=place.settings,
            watcher=place.watcher,
            trust=place.trust,
        )
        if self._asked.model.job_type == "training":
            raise UsageError(f"{self._asked.model.name} describes a training, which has no layers to compare")
        self.plan: Plan = self._asked.plan()
        self._place = place
        self.samples: list[Sample] = []
        if dataset is not None:
            self.samples = open_dataset(self.plan.dataset, self._asked.artifacts).samples

    @property
    def name(self) -> str:
        return self.plan.model.reference

    @property
    def precision(self) -> str | None:
        """What the predictor was told to compute in, where tensors do not show it."""
        return computed_in(self.plan.predictor.options)

    @property
    def stack(self) -> str:
        packages = self.plan.stack.packages
        return f"{self.plan.stack.name} ({', '.join(f'{name} {version}' for name, version in packages.items())})"

    def open(self) -> Worker:
        """The model in its stack; with samples it prepares them itself, without it is open alone."""
        site = provision(self.plan, self._asked.artifacts)
        site = replace(site, folder=str(self._place.folder))
        return Worker(site, self.plan, tensors=not self.has_samples, environment=_GIVES_BACK)

    def read(self, worker: Worker, inputs: Reading | RandomInput | None) -> Reading:
        """Of the tensors that the other side was given, of numbers by chance, or of this side's own samples."""
        request = ReadLayers(str(self._place.folder), self._place.most_bytes)
        if isinstance(inputs, Reading):
            request = request._replace(tensors=[each.described() for each in inputs.inputs])
        elif inputs is not None:
            request = request._replace(random=inputs.described())
        else:
            request = request._replace(samples=[dict(sample.content) for sample in self.samples])
        return reading_of(worker.read_layers(request))

    def steps(self, worker: Worker, outputs: Sequence[Held] = ()) -> tuple[Steps, Answers | None]:
        """What each step makes of this side's samples, and of the outputs that are given in place of its own."""
        contents = [dict(sample.content) for sample in self.samples]
        request = ReadSteps(
            str(self._place.folder), self._place.most_bytes, contents, [each.described() for each in outputs]
        )
        told, answers = worker.read_steps(request)
        return steps_of(told), answers

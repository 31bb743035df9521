"""One network, evaluated by the product in every framework, and compared score by score.

The network is written inside a framework's own stack, gets a manifest like anybody's model, and its answers are read
out of the record. Only the host imports this.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.evaluation import evaluate
from mlmodelscope.manifest.catalog import find_manifest
from mlmodelscope.manifest.schema import SoftwareManifest
from mlmodelscope.plan.match import normal_architecture
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.site import provision
from mlmodelscope.provision.stack import CurrentStack, Needs, Progress, Runnable, build_stack
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.settings import Settings
from mlmodelscope.worker.client import Worker
from worker_package.predictor.nets.network import Network

NETS = Path(__file__).resolve().parent
ROOT = NETS.parents[3]
SOURCES = (ROOT / "src", ROOT / "tests")
_OF_THE_HOST = ("bench.py", "from_onnx.py", "subjects.py", "tables.py")
HERE = "current"
"""Files that need no framework are written by the running Python."""


@dataclass(frozen=True)
class Way:
    """One way to run a network: a stack, the predictor in it, and a file that some stack wrote in some form."""

    stack: str
    predictor: str
    form: str
    writer: str = HERE
    layout: str = "NCHW"
    options: Mapping[str, Any] = field(default_factory=dict)
    output: str | None = None
    """The name of the output, where there are several."""

    @property
    def file(self) -> str:
        return self.form if self.writer in (HERE, self.stack) else f"{self.form} of {self.writer}"


@dataclass(frozen=True)
class Given:
    """A network that comes in the files of several frameworks; the first row that runs is the reference."""

    name: str
    shape: tuple[int, ...]
    classes: int

    def to_bytes(self) -> bytes:
        return self.name.encode()


@dataclass(frozen=True)
class Subject:
    """A network, real pictures for it, and how exact its answers must be."""

    network: Network | Given
    dataset: str
    steps: Mapping[str, Any]
    """Of the manifests' `processing`, but for the layout, which is the file's."""
    output: str
    """What the last layer gives: `probability`, or `logits`, which are compared as they are."""
    tolerance: float
    samples: int
    files: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Forms that are there already."""
    ways: tuple[Way, ...] = ()
    """How those are run, where there are no others."""
    excused: frozenset[tuple[str, str]] = frozenset()
    """(stack, form) of what is known not to run: a format that has no such layer."""
    is_small: bool = False
    """Whether even a machine that is emulated has the answers soon."""


@dataclass
class Row:
    """What came of one way."""

    way: Way
    scores: np.ndarray | None = None
    tensors: str | None = None
    """sha256 of the tensors that the worker prepared, channels first."""
    difference: float | None = None
    """The largest to the same arithmetic in double precision."""
    same_best: int | None = None
    """Samples whose best class is the reference's."""
    failure: str | None = None
    is_built: bool = True
    """Whether its stack could be built on this machine."""

    def agrees(self, tolerance: float) -> bool:
        return self.difference is not None and self.difference <= tolerance


class Bench:
    def __init__(
        self,
        subject: Subject,
        folder: Path,
        settings: Settings,
        samples: int | None = None,
        progress: Progress = lambda line: None,
    ) -> None:
        self.subject, self.settings, self.progress = subject, settings, progress
        self.samples = samples or subject.samples
        self.network = subject.network
        self.classes = self.network.classes
        self.folder = folder / self.network.name
        self._references: dict[str, np.ndarray] = {}
        self._start_afresh_if_anything_changed()

    def run(self, way: Way) -> Row:
        row = Row(way)
        try:
            software = find_manifest(SoftwareManifest, way.stack)
            if not self.subject.is_small and _is_emulated(software):
                row.is_built, row.failure = False, "left out: it would be emulated here, and slow"
                return row
            build_stack(software, self.settings, self.progress)
        except MLModelScopeError as error:
            row.is_built, row.failure = False, "not built: " + " ".join(error.message.split())
            return row
        try:
            self._fill(row)
        except MLModelScopeError as error:
            row.failure = " ".join(error.message.split())
        return row

    def _fill(self, row: Row) -> None:
        record = self.evaluate(row.way)
        if record.failed:
            raise MLModelScopeError(f"{record.failed} samples failed: {record.failures[0].reason}")
        row.scores = self._scores(record)
        tensors = self._prepared(record.plan)
        row.tensors = hashlib.sha256(tensors.tobytes()).hexdigest()
        if row.tensors not in self._references:
            known = isinstance(self.network, Network)
            self._references[row.tensors] = self.network.answers(tensors) if known else row.scores
        reference = self._references[row.tensors]
        row.difference = float(abs(row.scores - reference).max())
        row.same_best = int((row.scores.argmax(1) == reference.argmax(1)).sum())

    def evaluate(self, way: Way) -> Record:
        options = Options(
            top_k=self.classes, limit=self.samples, predictor_options=dict(way.options), warm_up_runs=1, timed_runs=1
        )
        manifest = self._manifest(way)
        return evaluate(manifest, self.subject.dataset, options, software=way.stack, settings=self.settings)

    def _scores(self, record: Record) -> np.ndarray:
        """Every class's score of every sample; the record has them by size."""
        store = Store(self.settings)
        try:
            table = store.samples(record)
        finally:
            store.close()
        scores = np.full((len(table), self.classes), np.nan, np.float32)
        rows = zip(table["classes"].to_pylist(), table["scores"].to_pylist(), strict=True)
        for place, (numbers, values) in enumerate(rows):
            scores[place, numbers] = values
        return scores

    def _prepared(self, plan: Plan) -> np.ndarray:
        """The very tensors that the model got."""
        artifacts = ArtifactStore(self.settings)
        with Worker(provision(plan, artifacts), plan) as worker:
            prepared = worker.prepare(open_dataset(plan.dataset, artifacts).samples)
        pictures = []
        for each in prepared:
            if isinstance(each, str):
                raise MLModelScopeError(each)
            described, content = each
            picture = np.frombuffer(content, described["element_type"]).reshape(described["shape"][-3:])
            pictures.append(picture if picture.shape == self.network.shape else picture.transpose(2, 0, 1))
        return np.ascontiguousarray(np.stack(pictures))

    def _manifest(self, way: Way) -> Path:
        files = self.subject.files.get(way.form) or self._written(way.form, way.writer)
        data = {
            "name": f"{self.network.name}-{way.form}",
            "version": "1.0.0",
            "task": "classification",
            "framework": {"name": way.predictor, "version": "*"},
            "inputs": [
                {
                    "type": "image",
                    "element_type": "float32",
                    "processing": {**self.subject.steps, "layout": way.layout},
                }
            ],
            "outputs": [{"type": self.subject.output, **({"layer_name": way.output} if way.output else {})}],
            "source": {f"{role}_path": path for role, path in files.items()},
        }
        path = self.folder / f"{way.form}-{way.writer}-{way.predictor}-{way.layout}.yml"
        path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
        return path

    def _written(self, form: str, writer: str) -> dict[str, str]:
        """The network in a form, written inside a stack, once."""
        folder = self.folder / f"{form}-{writer}"
        said = folder / "files.json"
        if not said.exists():
            folder.mkdir(exist_ok=True)
            arguments = ("-m", __package__, form, str(self.folder / "network.npz"), str(folder))
            done = self._call(writer, arguments, folder)
            if done.returncode:
                last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
                raise MLModelScopeError(f"{writer} cannot write `{form}`: {last}")
            said.write_text(done.stdout.strip().splitlines()[-1], encoding="utf-8")
        files: dict[str, str] = json.loads(said.read_text(encoding="utf-8"))
        return files

    def _call(self, writer: str, arguments: tuple[str, ...], folder: Path) -> subprocess.CompletedProcess[str]:
        environment = {"PYTHONPATH": os.pathsep.join(map(str, SOURCES))}
        stack: Runnable = CurrentStack()
        if writer != HERE:
            software = find_manifest(SoftwareManifest, writer)
            stack = build_stack(software, self.settings, self.progress)
            environment.update(software.env)
        needs = Needs(environment=environment, reads=(*SOURCES, self.folder), writes=(folder,), folder=folder)
        launch = stack.launch(arguments, needs)
        return subprocess.run(
            launch.command,
            env=dict(launch.environment),
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )

    def _start_afresh_if_anything_changed(self) -> None:
        """Files that were written stay good for as long as the network and its writers are the same."""
        content = self.network.to_bytes()
        parts = [content, *(path.read_bytes() for path in sorted(NETS.glob("*.py")) if path.name not in _OF_THE_HOST)]
        digest = hashlib.sha256(b"".join(parts)).hexdigest()
        stamp = self.folder / "made-of"
        if not stamp.exists() or stamp.read_text() != digest:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
            (self.folder / "network.npz").write_bytes(content)
            stamp.write_text(digest)


def _is_emulated(software: SoftwareManifest) -> bool:
    wanted = software.stack.architecture if software.stack else None
    return wanted is not None and normal_architecture(wanted) != normal_architecture(platform.machine())

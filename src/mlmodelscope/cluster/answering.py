"""One prediction on this machine: the plan is made, the model is opened or found open, and it answers."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from mlmodelscope.cluster.child import limits_of
from mlmodelscope.cluster.work import at_device, with_framework
from mlmodelscope.dataset.sample import Sample
from mlmodelscope.errors import ArtifactError, InputError, MLModelScopeError, WorkerError
from mlmodelscope.ledger.prediction import Answered, Posed, StageTime
from mlmodelscope.ledger.recent import Recent
from mlmodelscope.ledger.request import Work
from mlmodelscope.manifest.aspects import find_aspects, find_in_text
from mlmodelscope.model_input import DOCUMENT
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.prediction import (
    LOOSE_IMAGES,
    OpenModel,
    Prediction,
    asked_content,
    part_of,
    plan_prediction,
    write_settings,
)
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.small_file import fetch_small
from mlmodelscope.settings import Settings
from mlmodelscope.watcher import Watcher
from mlmodelscope.worker.process import WorkerDied, WorkerProcess
from mlmodelscope.worker.warm import Warm

_EVERY_S = 0.5
_PLAN_LASTS_S = 2.0
_LONGEST_PIECE = 4000
Tell = Callable[[Mapping[str, Any]], None]


class TooLate(MLModelScopeError):
    """Nobody waits for the answer any more."""


class Job(Watcher):
    """A prediction under way: tells how it goes, and can be given up from another thread."""

    def __init__(self, posed: Posed, content: bytes | None, tell: Tell) -> None:
        self.posed, self.content, self._tell = posed, content, tell
        self._lock = threading.Lock()
        self._process: WorkerProcess | None = None
        self._model: OpenModel | None = None
        self._is_answering = self._is_over = False
        self._last = 0.0

    def downloading(self, name: str, done: int, total: int | None) -> None:
        self.check()
        moment = time.monotonic()
        if moment - self._last >= _EVERY_S or done == total:
            self._last = moment
            self._tell({"kind": "downloading", "name": name, "done": done, "of": total})

    def building(self, what: str) -> None:
        self._tell({"kind": "building", "text": what})

    def opening(self, plan: Plan) -> None:
        self._tell({"kind": "opening", "model": plan.model.name, "stack": plan.stack.name})

    def opened(self, model: OpenModel) -> None:
        self._tell({"kind": "opened", "load_ns": model.load_ns})

    def check(self) -> None:
        if self._is_over:
            raise TooLate("nobody waits for this prediction any more")

    def started(self, process: WorkerProcess | None) -> None:
        """A model is being opened in this process."""
        self.check()
        with self._lock:
            self._process = process

    def answering(self, model: OpenModel) -> None:
        """From here on the model's process is ended when the job is given up."""
        self.check()
        with self._lock:
            self._process, self._is_answering = model.process, True

    def writing(self, model: OpenModel) -> None:
        """From here on the text ends when nobody reads it any more, and the model stays open."""
        with self._lock:
            self._model = model
        self.check()

    def wrote(self, text: str) -> None:
        for start in range(0, len(text), _LONGEST_PIECE):
            self._tell({"kind": "piece", "text": text[start : start + _LONGEST_PIECE]})

    def hang_up(self) -> None:
        """Nobody listens any more."""
        with self._lock:
            model, self._is_over = self._model, self._is_over or self._model is not None
        if model is not None:
            with contextlib.suppress(WorkerDied):
                model.stop()

    def done(self) -> None:
        with self._lock:
            self._process, self._model, self._is_answering = None, None, False

    def give_up(self, *, at_once: bool) -> None:
        """A model that is being opened is opened to the end, for whoever asks next, unless it must be `at_once`."""
        with self._lock:
            process = self._process if at_once or self._is_answering else None
            self._is_over = self._is_over or at_once or self._is_answering
        if process is not None:
            process.kill()


class Answering:
    """Models that are open here, and whatever is asked of them. Threads may share it."""

    def __init__(self, settings: Settings, speaks_for: str | None = None, most: int = 2) -> None:
        self._settings, self._speaks_for = settings, speaks_for or ""
        self._models: Warm[OpenModel] = Warm(most)
        self._plans: Recent[Plan] = Recent(_PLAN_LASTS_S)

    def answer(self, job: Job) -> Answered:
        began, posed = time.perf_counter_ns(), job.posed
        work = posed.work
        is_limited = work.public_only or self._settings.public_only
        artifacts = ArtifactStore(replace(self._settings, public_only=is_limited), job.downloading)
        content = job.content if job.content is not None else self._fetch(posed)
        plan = self._plan(work, artifacts, job)
        digest = plan.digest
        limits = limits_of(work, artifacts.settings, self._speaks_for)
        key = f"{digest} {plan.predictor.where} {limits}"
        asked = asked_content(plan, content, posed.parts)
        write_settings(plan, posed.write or {})
        prediction, load_ns = self._ask(key, plan, artifacts, job, asked, limits)
        if prediction.error is not None:
            raise InputError(prediction.error)
        if not all(math.isfinite(score) for score in prediction.scores):
            raise InputError("the model answered with infinite scores")
        return Answered(
            classes=prediction.classes,
            names=prediction.names,
            scores=prediction.scores,
            answer=prediction.answer,
            shapes=prediction.shapes,
            prompt=None if prediction.prompt is None else dict(prediction.prompt),
            stages=tuple(StageTime(name=each.name, duration_ns=each.duration_ns) for each in prediction.stages),
            model=plan.model.name,
            version=plan.model.version,
            plan_digest=digest,
            stack=plan.stack.name,
            packages=plan.stack.packages,
            warm=load_ns is None,
            load_ns=load_ns,
            wall_ns=time.perf_counter_ns() - began,
        )

    def _plan(self, work: Work, artifacts: ArtifactStore, job: Job) -> Plan:
        """Made anew, since files and what is trusted may have changed, unless the same was asked a moment ago."""

        def make() -> Plan:
            aspects = find_aspects(work.model, LOOSE_IMAGES, work.software, work.hardware, find=find_in_text)
            model = with_framework(aspects.model, work.framework)
            return plan_prediction(
                model,
                at_device(Options(**work.options), model, self._speaks_for),
                software=aspects.software_word or aspects.software,
                hardware=aspects.hardware,
                trust=work.trust,
                settings=artifacts.settings,
                watcher=job,
            )

        return self._plans.get(work.model_dump_json(), make)

    def _fetch(self, posed: Posed) -> bytes:
        is_limited = posed.public_input or self._settings.public_only
        try:
            return fetch_small(
                posed.url or "",
                posed.most_bytes,
                posed.timeout_s,
                public_only=is_limited,
                offline=self._settings.offline,
            )
        except ArtifactError as error:
            raise InputError(error.message, hint=error.hint) from None

    def _ask(
        self,
        key: str,
        plan: Plan,
        artifacts: ArtifactStore,
        job: Job,
        content: bytes | Sample,
        limits: Mapping[str, str],
    ) -> tuple[Prediction, int | None]:
        """(the answer, how long the model took to load, None where it was open)."""
        fresh: list[OpenModel] = []

        def open_model() -> OpenModel:
            job.opening(plan)
            model = OpenModel(plan, artifacts, environment=limits, started=job.started)
            job.opened(model)
            fresh.append(model)
            return model

        while True:
            try:
                with self._models.use(key, open_model) as model:
                    job.answering(model)
                    try:
                        if isinstance(content, Sample) and part_of(plan) == DOCUMENT:
                            job.writing(model)
                            prediction = model.converse(content, job.posed.write or {}, job.wrote)
                        else:
                            (prediction,) = model.answer([content])
                    finally:
                        job.done()
                    return prediction, model.load_ns if fresh else None
            except WorkerDied as death:
                job.check()
                if fresh:
                    raise WorkerError(death.message, hint=death.hint) from None
                # It died while nobody asked it anything, which says nothing about this question.

    def close_idle(self) -> None:
        """Let go of what nobody uses at the moment."""
        self._models.sweep(0)

    def sweep(self) -> None:
        self._models.sweep()

    def close(self) -> None:
        self._models.close()

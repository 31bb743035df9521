"""Whether a model and a dataset can belong together, found before anything is queued."""

from __future__ import annotations

import os
from dataclasses import replace

from mlmodelscope.errors import LimitError
from mlmodelscope.manifest.aspects import Aspects
from mlmodelscope.plan.pairing import Classes, check_manifests
from mlmodelscope.server.confined_classes import known_classes
from mlmodelscope.server.confined_work import spelled_settings
from mlmodelscope.server.desk import Desk
from mlmodelscope.task.class_answer import CLASS_TASKS


def check_pairing(desk: Desk, aspects: Aspects, is_strangers: bool) -> tuple[str, ...]:
    """What may be wrong with the pairing; PlanError where it cannot be right, by all that is on this server."""
    return check_manifests(aspects.model, aspects.dataset, _known(desk, aspects, is_strangers))


def _known(desk: Desk, aspects: Aspects, is_strangers: bool) -> Classes | None:
    model, dataset = aspects.model, aspects.dataset
    if model.task not in CLASS_TASKS or not model.outputs or (model.postprocess is not None):
        return None
    first, source = model.outputs[0], model.source
    asked = {
        "names": (first.features_url, first.features_checksum),
        "classes": (dataset.classes_url, dataset.classes_checksum),
        "graph": (source.graph_path, source.graph_checksum) if source is not None else (None, None),
        "layer": first.layer_name,
        "settings": spelled_settings(replace(desk.offline, public_only=is_strangers)),
    }
    # A folder of the server is its own; what was sent may be made to take all memory.
    is_own = all(os.path.isfile(each.file) for each in (model, dataset))
    key = (model.digest, dataset.digest, is_strangers)

    def find() -> Classes | None:
        try:
            found = known_classes(**asked) if is_own else desk.confined.call(known_classes, **asked)  # type: ignore[arg-type]
        except LimitError:  # nothing is known; the agent will see
            return None
        return Classes(found["outputs"], found["names"], found["classes"])

    return desk.paired.get(key, find)  # type: ignore[no-any-return]

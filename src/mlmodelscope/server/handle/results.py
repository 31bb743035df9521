"""Leaderboards: the best measured numbers of models and on datasets, with what was claimed beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from mlmodelscope.ledger.tokens import Person
from mlmodelscope.manifest.splits import is_same_split, parted
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.handle import claims
from mlmodelscope.server.results import Result, best_of_each, best_of_models, find_results
from mlmodelscope.task.measure import find_measure

_MOST_CLAIMS = 200


def find(
    desk: Desk, person: Person, models: Sequence[str] = (), dataset: str | None = None, limit: int = 100
) -> dict[str, Any]:
    """Best first, whole datasets before parts; of one dataset also the claims about it that nobody has measured."""
    demand(person, "read")
    found = best_of_each(find_results(desk.store.database, models, dataset))
    known = _digests(desk)
    published = _claims(desk, person, models, dataset)
    items = [_spell(each, known, published) for each in found[:limit]]
    measured = {(each.model, each.model_version, each.headline["name"]) for each in found}
    missing = [each for each in published if (each["model"], each["version"], _metric(each)) not in measured]
    return {
        "items": items,
        "total": len(found),
        "claimed": missing[:_MOST_CLAIMS] if dataset is not None else [],
        "more_claimed": max(0, len(missing) - _MOST_CLAIMS) if dataset is not None else 0,
    }


def best(desk: Desk, person: Person, models: Sequence[str]) -> dict[str, Any]:
    """One number for each version of these models, for a list: measured with the manifests that are here."""
    demand(person, "read")
    known = _digests(desk)
    found = [each for each in find_results(desk.store.database, models) if _is_known(each, known)]
    items = [_spell(each, known, ()) for each in best_of_models(found)]
    return {"items": items, "total": len(items), "claimed": [], "more_claimed": 0}


def _digests(desk: Desk) -> dict[tuple[str, str], set[str]]:
    found: dict[tuple[str, str], set[str]] = {}
    for entry in desk.catalogue.everything("model"):
        manifest = entry.manifest
        found.setdefault((manifest.name, manifest.version), set()).add(manifest.digest)
    return found


def _is_known(result: Result, known: dict[tuple[str, str], set[str]]) -> bool:
    """Whether it was measured with the manifest that is known here by that name, and not with another one."""
    return result.digest in known.get((result.model, result.model_version), ())


def _claims(desk: Desk, person: Person, models: Sequence[str], dataset: str | None) -> list[dict[str, Any]]:
    chosen: Sequence[str | None] = models or (None,)
    found = [each for name in chosen for each in claims.find(desk, person, name)]
    return [each for each in found if dataset is None or _dataset(each)[0] == dataset]


def _spell(
    result: Result, known: dict[tuple[str, str], set[str]], published: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    told = {name: value for name, value in asdict(result).items() if name != "digest"}
    return {
        **told,
        "known": _is_known(result, known),
        "claims": [each for each in published if _is_about(each, result)],
    }


def _is_about(claim: dict[str, Any], result: Result) -> bool:
    dataset, split = _dataset(claim)
    return (
        (claim["model"], claim["version"], dataset) == (result.model, result.model_version, result.dataset)
        and _metric(claim) == result.headline["name"]
        and is_same_split(split, result.split)
    )


def _dataset(claim: dict[str, Any]) -> tuple[str, str | None]:
    """(its name, the split that the claim names)."""
    reference, split = parted(claim["dataset"] or "")
    return reference.partition("@")[0], split


def _metric(claim: dict[str, Any]) -> str:
    """Our name of it."""
    measure = find_measure(claim["metric"])
    return measure.name if measure is not None else str(claim["metric"])

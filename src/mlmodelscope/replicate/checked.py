"""What a replication says of published claims, kept so that each is recognized wherever it is shown."""

from __future__ import annotations

import contextlib
import getpass
import math
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from mlmodelscope.catalog.find import described_reference
from mlmodelscope.errors import MLModelScopeError, UsageError
from mlmodelscope.manifest import schema
from mlmodelscope.manifest.catalog import find_model, list_catalog
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.plan.claim import claim_of
from mlmodelscope.plan.claim_key import key_of
from mlmodelscope.record.checks import Check, keep_checks
from mlmodelscope.record.database import open_database
from mlmodelscope.record.owners import OPERATOR
from mlmodelscope.record.record import Record
from mlmodelscope.replicate.finding import Finding, Judged
from mlmodelscope.replicate.outcome import finding_of
from mlmodelscope.replicate.replication import Replication
from mlmodelscope.settings import Settings

_MOST_SAMPLES = 2**31 - 1


def checks_of(finding: Finding, record: Record, model: str, person: str, replication: str | None = None) -> list[Check]:
    """A check for each published claim that was decided as it was published.

    A number that nobody published, a dataset that stands in for the claim's and a tolerance of the user's own say
    nothing of a published claim.
    """
    return list(_checks(finding, record, model, person, replication))


def _checks(finding: Finding, record: Record, model: str, person: str, replication: str | None) -> Iterator[Check]:
    now = datetime.now(UTC)
    for published in record.plan.claims:
        each = _judged(published, finding, record)
        if each is None or not each.is_check or not _is_sound(each):
            continue
        claim = each.claim
        yield Check(
            claim=key_of(model, published),
            record=record.id,
            model=model,
            metric=claim.metric,
            value=claim.value,
            dataset=claim.dataset or "",
            verdict=each.verdict,
            cause=_cause(finding, each),
            measured=each.measured.value,
            low=each.measured.low,
            high=each.measured.high,
            samples=each.samples,
            population=each.population,
            stack=stack_of(record),
            machine=machine_of(record),
            person=person,
            replication=replication,
            checked_at=now,
        )


def _is_sound(judged: Judged) -> bool:
    """Whether its numbers are some: agents may tell what no database can keep."""
    measured, counts = judged.measured, (judged.samples, judged.population or 0)
    are_finite = all(math.isfinite(each) for each in (measured.value, measured.low, measured.high))
    return are_finite and all(0 <= each <= _MOST_SAMPLES for each in counts)


def _judged(published: schema.Claim, finding: Finding, record: Record) -> Judged | None:
    """The verdict on this claim of the manifest, where it was judged."""
    try:
        own = claim_of(published, record.plan.task)
    except UsageError:  # nothing that can be measured here
        return None
    wanted = own.metric, own.text, own.dataset, own.conditions
    for each in finding.verdicts:
        if (each.claim.metric, each.claim.value, each.claim.dataset, each.claim.conditions) == wanted:
            return each
    return None


def _cause(finding: Finding, judged: Judged) -> str:
    """What the search found; it is about the worst claim alone."""
    if judged.claim != finding.claim:
        return ""
    found = [f"{' + '.join(each.pitfalls)} ({each.words})" for each in finding.explained_by]
    if found:
        return " or ".join(found)
    most = finding.explains_most
    return f"mostly {' + '.join(most.pitfalls)} ({most.words})" if most is not None else ""


def stack_of(record: Record) -> str:
    """The stack's name with the packages that count."""
    stack = record.plan.stack
    packages = [f"{name} {version}" for name, version in sorted(stack.packages.items()) if name != "numpy"]
    return f"{stack.name} ({', '.join(packages or [f'Python {stack.python}'])})"


def machine_of(record: Record) -> str:
    return f"{record.machine.hostname} ({record.machine.cpu})"


def keep_replication(done: Replication, model: str | Path | ModelManifest | None, settings: Settings) -> None:
    """Of this machine's own; `model` is what was asked for, which may be `SOURCE:NAME`."""
    named = described_reference(model) if isinstance(model, str) else None
    if named is None and _is_anothers(done.record):
        return
    found = checks_of(finding_of(done), done.record, named or done.record.plan.model.reference, this_person())
    if found:
        database = open_database(settings)
        try:
            keep_checks(database, found)
        finally:
            database.close()


def _is_anothers(record: Record) -> bool:
    """Whether the catalog has another manifest of the same name and version: that one's claims are not these."""
    made_from = record.plan.manifests.get("model")
    if made_from is None:
        return False
    for entry in list_catalog("models"):
        if entry.name == made_from.name:
            with contextlib.suppress(MLModelScopeError):  # a broken file, or a constraint that it does not satisfy
                known = find_model(entry.path)
                if known.version == made_from.version:
                    return known.digest != made_from.digest
    return False


def this_person() -> str:
    """Who works here; a user without a name in the system's list is the machine's operator."""
    try:
        return getpass.getuser() or OPERATOR
    except (KeyError, OSError):
        return OPERATOR

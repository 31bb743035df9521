"""What every run has around it: the store, the machine set as the plan wants it, and a record to begin with."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from mlmodelscope.errors import StoreError
from mlmodelscope.manifest.aspects import Aspects
from mlmodelscope.plan.plan import Plan
from mlmodelscope.preparation import Asked
from mlmodelscope.provision.machine import Machine, describe_machine, identify_machine
from mlmodelscope.provision.setting import Place, Setting, applied, restore_left_behind
from mlmodelscope.provision.setup import run_setup
from mlmodelscope.provision.stack import worker_digest
from mlmodelscope.provision.stack.choose import find_image
from mlmodelscope.record.record import Record, new_record_id
from mlmodelscope.record.store import Store
from mlmodelscope.watcher import Watcher
from mlmodelscope_worker import __version__


@contextmanager
def opened_store(asked: Asked) -> Iterator[Store]:
    """The store of records, on a machine that no killed run has left changed."""
    home = asked.settings.home
    with storage_errors(home):
        # Before the machine is looked at: it would seem to be another one.
        for name in restore_left_behind(Place(home)):
            asked.watcher.building(f"{name} is set back to what it was before a run that was killed")
        store = Store(asked.settings)
        try:
            yield store
        finally:
            store.close()


@contextmanager
def storage_errors(home: Path) -> Iterator[None]:
    """A full disk is a foreseen failure."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise StoreError(
            f"no space left on the disk of {home}",
            hint="free some and give the same command again: it resumes where it left off",
        ) from None


def machine_set_for(plan: Plan, home: Path, watcher: Watcher) -> AbstractContextManager[tuple[Setting, ...]]:
    """The machine as the plan's hardware manifest wants it, and what became of each setting."""
    place = Place(home, waiting=watcher.waiting)
    return applied(plan.settings, int(plan.predictor.options.get("threads", 1)), place, plan.predictor.name)


def with_settings(record: Record, done: tuple[Setting, ...]) -> Record:
    """What was set, and a note for each setting that could not be."""
    left = [f"{each.name} = {each.asked} was not set: {each.note}" for each in done if each.note]
    return record.model_copy(update={"settings": done, "notes": tuple(dict.fromkeys((*record.notes, *left)))})


def with_container(record: Record, aspects: Aspects) -> Record:
    """A note for each manifest that names a container image for this machine where something else ran instead."""
    stack = record.plan.stack
    if stack.recipe is not None and stack.recipe.image is not None:
        return record
    gpu = record.plan.predictor.options.get("device", "cpu") != "cpu"
    where = "this Python" if stack.recipe is None else f"the stack {stack.name}"
    notes = [
        f"{manifest.reference} names the container image {image}; {where} satisfies it and was used instead"
        for manifest in (aspects.model, aspects.software)
        if manifest is not None and (image := find_image(manifest.container, gpu)) is not None
    ]
    return record.model_copy(update={"notes": tuple(dict.fromkeys((*record.notes, *notes)))})


def with_setup(record: Record) -> Record:
    """What the hardware manifest's own setup printed, where it has one."""
    if record.plan.setup is None:
        return record
    return record.model_copy(update={"setup_output": run_setup(record.plan.setup)})


def machine_of(plan: Plan) -> Machine:
    """Where the plan is carried out: this machine, or a server, which is another one at another address."""
    return _at_server(describe_machine(), plan)


def machine_digest(plan: Plan) -> str:
    """The digest of the same, for which only a part of the machine need be looked at."""
    return _at_server(identify_machine(), plan).digest


def _at_server(machine: Machine, plan: Plan) -> Machine:
    return machine.model_copy(update={"server": plan.predictor.where.get("url")})


def new_record(plan: Plan, identity: str | None = None) -> Record:
    """A record that begins now; `identity` tells runs of the same plan apart that are not the same thing."""
    return Record(
        id=new_record_id(),
        status="running",
        created_at=datetime.now(UTC),
        plan_digest=identity or plan.digest,
        plan=plan,
        machine=machine_of(plan),
        worker_version=__version__,
        worker_digest=worker_digest(),
        notes=tuple(plan.warnings),
    )

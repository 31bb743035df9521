"""A machine set as a manifest says, while something runs on it, and set back whatever happens."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlmodelscope.errors import SetupError
from mlmodelscope.manifest.schema.machine_settings import Chosen, MachineSettings
from mlmodelscope.plan.instruction_set import is_obedient
from mlmodelscope.provision.machine import nvml
from mlmodelscope.provision.setting import cpu
from mlmodelscope.provision.setting.gpu import Clocks, restore_clocks
from mlmodelscope.provision.setting.journal import Journal, Undo
from mlmodelscope.provision.setting.lever import Lever, Refused, Setting, restore_files
from mlmodelscope.provision.setting.process import Affinity, Numa


@dataclass(frozen=True)
class Place:
    """Where settings are made; tests bring a machine of their own."""

    home: Path
    root: Path = Path("/")
    load_nvml: Callable[[], Any] = nvml.load_library
    waiting: Callable[[str], None] = lambda reason: None


@contextlib.contextmanager
def applied(
    settings: MachineSettings | None, threads: int, place: Place, predictor: str | None = None
) -> Iterator[tuple[Setting, ...]]:
    """What became of each setting. `threads` is what the plan says, which had the last word on it, and `predictor`
    is what must keep to instruction sets."""
    if settings is None or not settings.chosen:
        yield ()
        return
    with contextlib.ExitStack() as stack:
        if settings.reaches_beyond_us:
            stack.enter_context(Journal(place.home, place.root).alone(place.waiting))
            restore(place)  # of a run that was killed; else we would take its settings for the machine's own
        levers, outcomes = _levers(settings, place)
        stack.enter_context(_back_afterwards(levers, place))
        for name, lever in levers.items():
            outcomes[name] = _apply(name, lever, settings.chosen[name], place)
        if settings.threads is not None:
            outcomes["threads"] = _threads(settings.threads, threads)
        if settings.instruction_sets is not None:
            outcomes["instruction_sets"] = _instruction_sets(settings.instruction_sets.value, predictor)
        yield tuple(outcomes[name] for name in settings.chosen)


def _levers(settings: MachineSettings, place: Place) -> tuple[dict[str, Lever], dict[str, Setting]]:
    """All that can be set, found before anything is; the machine first, then our process. What cannot is refused."""
    makers: dict[str, Callable[[Any], Lever]] = {
        "governor": lambda value: cpu.governor(value, place.root),
        "turbo": lambda value: cpu.turbo(value, place.root),
        "gpu_clocks": lambda value: Clocks(value, place.load_nvml),
        "smt": lambda value: cpu.smt(value, place.root),  # last: it takes processors away, with their files
        "cpu_affinity": lambda value: Affinity(value, place.root),
        "numa": lambda value: Numa(value, place.root, with_cpus=settings.cpu_affinity is None),
    }
    levers: dict[str, Lever] = {}
    notes: dict[str, Setting] = {}
    for name, make in makers.items():
        if name not in settings.chosen:
            continue
        try:
            levers[name] = make(settings.chosen[name].value)
        except Refused as refused:
            notes[name] = _left(name, settings.chosen[name], refused)
    return levers, notes


def _apply(name: str, lever: Lever, chosen: Chosen[Any], place: Place) -> Setting:
    before, undo = lever.now(), lever.undo()
    try:
        lever.apply()
        found = lever.now()
        if not (lever.agrees(found) if isinstance(lever, Clocks) else found == chosen.value):
            raise Refused(f"it was set, but {found} is read back")
    except Refused as refused:
        if not isinstance(lever, (Affinity, Numa)):
            _take_back(name, lever, undo, place)
        return _left(name, chosen, refused)
    return Setting(name=name, asked=_plain(chosen.value), before=before, after=found)


def _take_back(name: str, lever: Lever, undo: dict[str, Any], place: Place) -> None:
    """Half of a setting is worse than none. Where nothing was changed, there is nothing to be allowed to undo."""
    is_clean = isinstance(lever, Clocks) and not lever.has_locked
    if is_clean or not _restore_one(name, {name: undo}, place):
        Journal(place.home, place.root).forget(name)


def _left(name: str, chosen: Chosen[Any], refused: Refused) -> Setting:
    """An error, unless the manifest allows to go on without."""
    asked = _plain(chosen.value)
    if chosen.optional:
        return Setting(name=name, asked=asked, note=refused.reason)
    optional = f"if it may be left out, write `{name}: {{value: …, optional: true}}`"
    raise SetupError(
        f"the setting {name} = {asked} cannot be applied: {refused.reason}",
        hint=f"{refused.hint}; {optional}" if refused.hint else optional,
    )


def _threads(chosen: Chosen[int], threads: int) -> Setting:
    if chosen.value == threads:
        return Setting(name="threads", asked=chosen.value, after=threads)
    return _left("threads", chosen, Refused(f"the plan has {threads}"))


def _instruction_sets(level: str, predictor: str | None) -> Setting:
    """The plan has put them into the worker's environment, or refused to."""
    if is_obedient(predictor):
        return Setting(name="instruction_sets", asked=level, after=level)
    note = f"{predictor} chooses its kernels by the processor; NumPy and OpenCV alone are kept to it"
    return Setting(name="instruction_sets", asked=level, note=note)


def _plain(value: Any) -> Any:
    return value.model_dump(exclude_none=True) if hasattr(value, "model_dump") else value


@contextlib.contextmanager
def _back_afterwards(levers: dict[str, Lever], place: Place) -> Iterator[None]:
    ours = [lever for lever in levers.values() if isinstance(lever, (Affinity, Numa))]
    undo = {name: lever.undo() for name, lever in levers.items() if lever not in ours}
    if undo:
        Journal(place.home, place.root).write(undo)
    try:
        yield
    finally:
        try:
            if undo:
                restore(place)
        finally:
            # Last: processors that were taken away are there again.
            for lever in reversed(ours):
                lever.restore()


def restore(place: Place) -> list[str]:
    """Set back what the journal holds, and forget it; the names of the settings. The caller holds the lock."""
    journal = Journal(place.home, place.root)
    undo = journal.read()
    failed: list[str] = []
    for name in reversed(undo):
        failed += _restore_one(name, undo, place)
    if failed:
        raise SetupError(
            "this machine could not be set back to what it was:\n" + "\n".join(f"- {each}" for each in failed),
            hint="`mlmodelscope machine --restore`, as root, tries again",
        )
    journal.clear()
    return list(undo)


def _restore_one(name: str, undo: Undo, place: Place) -> list[str]:
    if name == "gpu_clocks":
        return restore_clocks(undo[name], place.load_nvml)
    # A journal is a file that anybody may have written in: it sets back processors and nothing else.
    above = str(place.root / "sys/devices/system/cpu") + "/"
    return restore_files(
        {path: text for path, text in undo[name].items() if path.startswith(above) and "/../" not in path}
    )


def restore_left_behind(place: Place) -> list[str]:
    """Set back what a killed run left; nothing where there is none, or where its run is still alive."""
    journal = Journal(place.home, place.root)
    if not journal.is_there:
        return []
    with journal.alone(wait=False) as is_alone:
        return restore(place) if is_alone else []

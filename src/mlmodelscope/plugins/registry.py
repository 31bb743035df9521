"""One kind of thing by name: ours from the start, those of installed packages when they are asked for."""

from __future__ import annotations

import contextlib
import importlib
import operator
import re
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from mlmodelscope.errors import MLModelScopeError, PluginError
from mlmodelscope.plugins.files import files_of
from mlmodelscope.plugins.installed import PREFIX, Plugin, plugins_in, shown
from mlmodelscope.plugins.load import Fault, forget, import_module_of, place_of

Thing = TypeVar("Thing")

_OURS = ("mlmodelscope", "mlmodelscope_worker")
_LOCK = threading.RLock()
_REGISTRIES: weakref.WeakSet[Registry[Any]] = weakref.WeakSet()


@dataclass(eq=False)
class Registry(Generic[Thing]):
    """Things of one kind, and what installed packages add to them under a group of entry points.

    Packages are looked at only when a name is not one of ours, or when everything is wanted.
    """

    kind: str
    """One of them, in words: `step`."""
    group: str
    """The group of entry points, without `mlmodelscope.`."""
    things: dict[str, Thing]
    """Those that were imported so far, ours and theirs; a decorator adds to them."""
    of: type[Thing]
    code: Callable[[Thing], object]
    """The function or class that a thing was made from."""
    names: str = "[a-z][a-z0-9_-]*"
    """What an entry point may be called."""
    built_in: Mapping[str, str] = field(default_factory=dict)
    """Modules of ours by the name of what they add, where they are imported when that is asked for."""
    travels: bool = False
    """Whether the modules are imported inside stacks as well."""
    named: Callable[[Thing], str] | None = None
    """What a thing calls itself, where that must be its name."""
    covers: Callable[[str, str], bool] = operator.eq
    """Whether an entry point of one name may add something of the other."""

    def __post_init__(self) -> None:
        self._outcomes: dict[Plugin, PluginError | None] = {}
        _REGISTRIES.add(self)

    # By name.

    def find(self, name: str) -> Thing | None:
        """The thing of this name, or None; PluginError where the package that has it is broken."""
        if name in self.built_in:
            importlib.import_module(self.built_in[name])
        plugin = self.origin(name)
        if plugin is not None:
            self.load(plugin)
        return self.things.get(name)

    def __getitem__(self, name: str) -> Thing:
        found = self.find(name)
        if found is None:
            raise KeyError(name)
        return found

    def get(self, name: str) -> Thing | None:
        """The same for those who can do without: one that is broken is none."""
        try:
            return self.find(name)
        except PluginError:
            return None

    def __contains__(self, name: str) -> bool:
        """Whether somebody has it, broken or not."""
        return name in self.things or name in self.built_in or self.origin(name) is not None

    def __iter__(self) -> Iterator[str]:
        """Every name that somebody has, in order; nothing is imported for it."""
        theirs = {each.name for each in self.plugins() if not each.fault and self._is_well_named(each)}
        return iter(sorted({*self.things, *self.built_in, *theirs}))

    def origin(self, name: str) -> Plugin | None:
        """The entry point that adds it; None for ours, for what this program registered, and where there is none."""
        if not name or self._is_ours(name):
            return None
        return next((each for each in self.plugins() if not each.fault and self.covers(each.name, name)), None)

    # All of them.

    def plugins(self) -> tuple[Plugin, ...]:
        return plugins_in(PREFIX + self.group)

    def all(self) -> dict[str, Thing]:
        """Everything that can be used; what is broken is left out, and `problems` tells why."""
        for module in self.built_in.values():
            importlib.import_module(module)
        self.problems()
        # In the order of the declaration, whichever module something else imported first.
        ours = {name: self.things[name] for name in self.built_in if name in self.things}
        return {**ours, **self.things}

    def problems(self) -> list[PluginError]:
        """Why some plugins cannot be used; all of them are loaded for it."""
        return [problem for problem in map(self.problem, self.plugins()) if problem is not None]

    def problem(self, plugin: Plugin) -> PluginError | None:
        """Why one cannot be used."""
        try:
            self.load(plugin)
        except PluginError as error:
            return error
        return None

    def load(self, plugin: Plugin) -> None:
        """Import a plugin, once; PluginError every time where it is broken."""
        with _LOCK:
            if plugin not in self._outcomes:
                self._outcomes[plugin] = self._try(plugin)
            outcome = self._outcomes[plugin]
        if outcome is not None:
            raise PluginError(outcome.message, hint=outcome.hint)

    @contextlib.contextmanager
    def blaming(self, name: str, *passing: type[Exception]) -> Iterator[None]:
        """Whatever a stranger's code raises names the package that it is from; ours keeps its traceback."""
        try:
            yield
        except Exception as error:
            plugin = self.origin(name)
            if plugin is None or isinstance(error, (MLModelScopeError, *passing)):
                raise
            raise self._error(plugin, f"{type(error).__name__}: {shown(error)}{place_of(error)}") from error

    # How one is loaded.

    def _try(self, plugin: Plugin) -> PluginError | None:
        modules, known = set(sys.modules), {each: dict(each.things) for each in _REGISTRIES}
        try:
            self._refuse_name(plugin)
            files = files_of(plugin)
            if self.travels:
                files.refuse_compiled()
            import_module_of(plugin)
            for each, before in known.items():
                each._refuse_added(plugin, before)
            if not any(self.covers(plugin.name, name) for name in self.things):
                raise Fault(f"{plugin.module} registers no {self.kind} `{plugin.name}`")
        except (Fault, OSError) as fault:
            for each, before in known.items():
                each._go_back_to(before)
            forget(plugin, modules)
            return self._error(plugin, str(fault))
        return None

    def _refuse_name(self, plugin: Plugin) -> None:
        if plugin.fault:
            raise Fault(plugin.fault)
        if not self._is_well_named(plugin):
            raise Fault(f"`{plugin.name}` is not a name for a {self.kind}, which must match {self.names}")
        if self._is_ours(plugin.name):
            raise Fault(f"MLModelScope has a {self.kind} `{plugin.name}` of its own, which no package replaces")
        for other in self.plugins():
            if other.name == plugin.name and other != plugin and not other.fault:
                raise Fault(f"{other.owner} adds a {self.kind} `{plugin.name}`, too, and only one of them can be meant")

    def _refuse_added(self, plugin: Plugin, before: Mapping[str, Thing]) -> None:
        """What a module registers must be what its package's entry points say: nothing comes in unseen."""
        for name, thing in self.things.items():
            if before.get(name) is thing:
                continue
            if name in before or (name in self.built_in and self.built_in[name] not in sys.modules):
                raise Fault(f"{plugin.module} replaces the {self.kind} `{name}`")
            if not isinstance(thing, self.of) or (self.named is not None and self.named(thing) != name):
                raise Fault(f"{plugin.module} registers {shown(repr(thing))} as the {self.kind} `{name}`")
            if not self._is_ours(name) and not self._is_declared(name, plugin):
                group = f"{PREFIX}{self.group}"
                raise Fault(f"{plugin.module} registers the {self.kind} `{name}` without an entry point in {group}")

    def _is_declared(self, name: str, plugin: Plugin) -> bool:
        """By this package, or by another one that its module imports."""
        home = self._module(name)
        return any(
            self.covers(each.name, name) and (each.package == plugin.package or each.module.partition(".")[0] == home)
            for each in self.plugins()
        )

    def _go_back_to(self, before: Mapping[str, Thing]) -> None:
        """As it was before a plugin that failed; what of ours was imported on its behalf stays."""
        for name in [name for name in self.things if name not in before and not self._is_ours(name)]:
            del self.things[name]
        self.things.update(before)

    def _error(self, plugin: Plugin, why: str) -> PluginError:
        author = f" ({plugin.author})" if plugin.author else ""
        return PluginError(
            f"the {self.kind} `{plugin.name}` of the package {plugin.owner} cannot be used: {why}",
            hint=f"tell its author{author}, or remove it: pip uninstall {plugin.package}",
        )

    def _is_well_named(self, plugin: Plugin) -> bool:
        return re.fullmatch(self.names, plugin.name) is not None

    def _is_ours(self, name: str) -> bool:
        """By the table of ours where there is one: a stranger's measure may be made by a class of ours."""
        return name in self.built_in if self.built_in else self._module(name) in _OURS

    def _module(self, name: str) -> str:
        """The package whose code a thing is; empty where there is no such thing."""
        thing = self.things.get(name)
        if not isinstance(thing, self.of):
            return ""
        return str(getattr(self.code(thing), "__module__", "")).partition(".")[0]

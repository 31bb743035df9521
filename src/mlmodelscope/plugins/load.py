"""A stranger's module is imported, and whatever goes wrong becomes one sentence."""

from __future__ import annotations

import contextlib
import importlib
import os
import platform
import sys
import traceback
from types import ModuleType

import mlmodelscope_worker
from mlmodelscope.plugins.installed import Plugin, shown

_HOMES = (os.path.dirname(os.path.dirname(__file__)), os.path.dirname(mlmodelscope_worker.__file__))
_OURS = tuple(home + os.sep for home in _HOMES)


class Fault(Exception):
    """Why a plugin cannot be used."""


def import_module_of(plugin: Plugin) -> ModuleType:
    """Import it; Fault where that fails, with nothing of it left behind that a second try would find half done."""
    before = set(sys.modules)
    try:
        # Whatever it prints must not stand among the results that a program reads.
        with contextlib.redirect_stdout(sys.stderr):
            module = importlib.import_module(plugin.module)
            _look_up(module, plugin)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # even an exit: the command that was given does not end because of a plugin
        forget(plugin, before)
        raise Fault(_explain(error, plugin)) from None
    return module


def forget(plugin: Plugin, before: set[str]) -> None:
    """Remove what the import of a module that is of no use has brought."""
    top = plugin.module.partition(".")[0]
    for name in set(sys.modules) - before:
        if name.partition(".")[0] == top:
            del sys.modules[name]


def _look_up(module: ModuleType, plugin: Plugin) -> None:
    found: object = module
    for part in plugin.attribute.split(".") if plugin.attribute else ():
        if not hasattr(found, part):
            raise Fault(f"{plugin.module} has no `{plugin.attribute}`")
        found = getattr(found, part)
    if plugin.attribute and not callable(found):
        raise Fault(f"`{plugin.attribute}` of {plugin.module} is neither a function nor a class")


def _explain(error: BaseException, plugin: Plugin) -> str:
    if isinstance(error, Fault):
        return str(error)
    if isinstance(error, ModuleNotFoundError) and error.name and f"{plugin.module}.".startswith(f"{error.name}."):
        return f"there is no module {error.name}"
    if isinstance(error, SyntaxError):
        place = f" ({os.path.basename(error.filename or '')}:{error.lineno})"
        return f"{plugin.module} is not valid for Python {platform.python_version()}: {shown(error.msg)}{place}"
    if isinstance(error, SystemExit):
        return f"importing {plugin.module} ends the program with the exit code {shown(error.code)}{place_of(error)}"
    return f"importing {plugin.module} fails: {type(error).__name__}: {shown(error)}{place_of(error)}"


def place_of(error: BaseException) -> str:
    """Where in the stranger's code it happened: the innermost line that is neither ours nor the import system's."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(("<", *_OURS)) and f"{os.sep}importlib{os.sep}" not in frame.filename
    ]
    return f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""

"""Modules of other packages that a plan uses. The host has put them onto the path and says what to import."""

import importlib
import platform

from .output import ANSWER_STEPS, OUTPUT_STEPS
from .pipeline import STEPS
from .predictor import PREDICTORS, ModelError
from .task import TASKS
from .training.augmentation import AUGMENTATIONS

_REGISTRIES = {
    "steps": STEPS,
    "output_steps": OUTPUT_STEPS,
    "answer_steps": ANSWER_STEPS,
    "augmentations": AUGMENTATIONS,
    "predictors": PREDICTORS,
    "readers": TASKS,
}


def load_plugins(plugins):
    """Import each, so that it registers what it has; ModelError names the package whose module this stack refuses."""
    for each in plugins:
        try:
            importlib.import_module(each["module"])
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # even an exit: the host waits for an answer
            raise ModelError(_explain(error, each))
        if each["name"] not in _REGISTRIES[each["kind"]]:
            raise ModelError("%s registers no `%s` in this stack" % (_name(each), each["name"]))


def _name(plugin):
    return "the plugin %s %s (%s)" % (plugin["package"], plugin["version"], plugin["module"])


def _explain(error, plugin):
    version = platform.python_version()
    if isinstance(error, SyntaxError):
        return "%s is not valid for this stack's Python %s: %s (%s:%s)" % (
            _name(plugin),
            version,
            error.msg,
            (error.filename or "").rpartition("/")[2],
            error.lineno,
        )
    words = "%s cannot be imported by this stack's Python %s: %s: %s" % (
        _name(plugin),
        version,
        type(error).__name__,
        error,
    )
    if isinstance(error, ImportError):
        words += "; inside a stack there are the standard library, mlmodelscope_worker and the stack's own packages"
    return words

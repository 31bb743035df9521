"""Python that a manifest carries: compiled so that tracebacks point at the manifest, called one at a time.

All functions of a task share one set of globals, as they did in the systems that such manifests were written for: what
a dataset's `init` puts there, a model's `preprocess` finds.
"""

import linecache
import sys
import traceback
import types

from .predictor import ModelError

_LONGEST = 1000  # characters of a failed function's own words: they are kept for every sample


class FunctionError(ModelError):
    """A function of the manifest raised; the message says what and where in the manifest."""


class Functions(object):
    """The functions of one task, by stage."""

    def __init__(self, specs, given):
        # A module that can be found by its name: what a training pickles refers to its classes in this way.
        module = sys.modules["manifest"] = types.ModuleType("manifest")
        self._globals = module.__dict__
        self._globals.update(given)
        self._places = {}
        self._stages = {}
        for stage in ("setup", "training", "init", "load", "unload", "preprocess", "run", "postprocess"):
            if stage in specs:
                self._define(stage, specs[stage])

    @classmethod
    def around(cls, found):
        """The functions of globals that others have executed, to be adopted by name."""
        functions = cls.__new__(cls)
        functions._globals, functions._places, functions._stages = found, {}, {}
        return functions

    def __contains__(self, stage):
        return stage in self._stages

    def _define(self, stage, spec):
        file, line = spec.get("file") or "", spec.get("line", 0)
        code = "\n" * max(0, line - 1) + spec["code"]
        if not line or file.startswith("<"):
            # Where in the file the code stands is not known: its lines are counted from its own first one.
            file = "<%s%s>" % (stage, " of " + _short(file) if file and not file.startswith("<") else "")
            linecache.cache[file] = (len(code), None, code.splitlines(True), file)
        self._places[file] = stage
        try:
            exec(compile(code, file, "exec"), self._globals)  # nosec B102 # trusted before it came here
        except BaseException as error:
            raise FunctionError(self._explain(stage, error))
        if stage in ("setup", "training"):
            return
        function = self._globals.get(spec["function"])
        if not callable(function):
            raise FunctionError("the code of `%s` defines no function `%s`" % (stage, spec["function"]))
        self._stages[stage] = function

    def adopt(self, stage, name):
        """Whether the code that was executed has a function of this name; then it is the function of the stage."""
        function = self._globals.get(name)
        if callable(function):
            self._stages[stage] = function
        return callable(function)

    def stage(self, stage):
        return self._stages[stage]

    def call(self, stage, *arguments, **named):
        """What the stage's function returns; whatever it raises becomes a FunctionError."""
        try:
            return self._stages[stage](*arguments, **named)
        except FunctionError:
            raise  # an earlier stage, whose items this one was reading
        except (Exception, SystemExit) as error:
            raise FunctionError(self._explain(stage, error))

    def items(self, stage, stream):
        """The items of a stage that streams, with its errors explained as if it had returned them all."""
        try:
            result = yield from stream
        except FunctionError:
            raise
        except (Exception, SystemExit) as error:
            raise FunctionError(self._explain(stage, error))
        return result

    def mentions(self, stage, name):
        """Whether a stage's function uses a global of this name, also in a function inside it."""
        pending = [getattr(self._stages[stage], "__code__", None)]
        while pending:
            code = pending.pop()
            if code is not None:
                if name in code.co_names:
                    return True
                pending += [each for each in code.co_consts if isinstance(each, types.CodeType)]
        return False

    def _explain(self, stage, error):
        """`ValueError: no pixels (model.yml:57, in preprocess)`: the last place inside the manifest."""
        if isinstance(error, SyntaxError) and error.filename in self._places:
            where = "%s, in %s" % (_spell_place(error.filename, error.lineno or 0), stage)
            return "%s: %s (%s)" % (type(error).__name__, error.msg, where)
        frames = traceback.extract_tb(error.__traceback__)
        places = [frame for frame in frames if frame.filename in self._places]
        if not places:
            return "%s (in %s)" % (_words(error), stage)
        last = places[-1]
        name = last.name if last.name != "<module>" else self._places[last.filename]
        return "%s (%s, in %s)" % (_words(error), _spell_place(last.filename, last.lineno), name)


def is_stream(value):
    """Whether a stage gives its items one by one: a generator, or any other iterator."""
    return hasattr(value, "__next__")


def _words(error):
    """What an exception says of itself, in one line that can be kept; its text is a stranger's too."""
    kind = type(error).__name__
    try:
        lines = str(error).strip().splitlines()
    except Exception:
        lines = []
    text = lines[0].encode("utf-8", "backslashreplace").decode("utf-8") if lines else ""
    if len(text) > _LONGEST:
        text = text[:_LONGEST] + "…"
    return "%s: %s" % (kind, text) if text else kind


def _spell_place(file, line):
    return "line %d of %s" % (line, file[1:-1]) if file.startswith("<") else "%s:%d" % (_short(file), line)


def _short(file):
    return file.replace("\\", "/").rpartition("/")[2]

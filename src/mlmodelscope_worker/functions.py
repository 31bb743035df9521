"""Python that a manifest carries: compiled so that tracebacks point at the manifest, called one at a time.

All functions of a task share one set of globals, as they did in the systems that such manifests were written for: what
a dataset's `init` puts there, a model's `preprocess` finds.
"""

import linecache
import traceback

from .predictor import ModelError


class FunctionError(ModelError):
    """A function of the manifest raised; the message says what and where in the manifest."""


class Functions(object):
    """The functions of one task, by stage."""

    def __init__(self, specs, given):
        self._globals = {"__name__": "manifest", "__builtins__": __builtins__}
        self._globals.update(given)
        self._files = set()
        self._stages = {}
        for stage in ("setup", "init", "load", "unload", "preprocess", "run", "postprocess"):
            if stage in specs:
                self._define(stage, specs[stage])

    def __contains__(self, stage):
        return stage in self._stages

    def _define(self, stage, spec):
        # A name that is no file would make tracebacks silent; the text itself is shown then.
        file = spec.get("file") or "<%s>" % stage
        self._files.add(file)
        padding = "\n" * max(0, spec.get("line", 0) - 1)
        if file.startswith("<"):
            text = padding + spec["code"]
            linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        try:
            exec(compile(padding + spec["code"], file, "exec"), self._globals)
        except BaseException as error:
            raise FunctionError(self._explain(stage, error))
        if stage == "setup":
            return
        function = self._globals.get(spec["function"])
        if not callable(function):
            raise FunctionError("the code of `%s` defines no function `%s`" % (stage, spec["function"]))
        self._stages[stage] = function

    def call(self, stage, *arguments):
        """What the stage's function returns; whatever it raises becomes a FunctionError."""
        try:
            return self._stages[stage](*arguments)
        except FunctionError:
            raise  # an earlier stage, whose items this one was reading
        except (Exception, SystemExit) as error:
            raise FunctionError(self._explain(stage, error))

    def items(self, stage, stream):
        """The items of a stage that streams, with its errors explained as if it had returned them all."""
        try:
            for item in stream:
                yield item
        except FunctionError:
            raise
        except (Exception, SystemExit) as error:
            raise FunctionError(self._explain(stage, error))

    def mentions(self, stage, name):
        """Whether a stage's function uses a global of this name."""
        code = getattr(self._stages[stage], "__code__", None)
        return code is not None and name in code.co_names

    def _explain(self, stage, error):
        """`ValueError: no pixels (model.yml:57, in preprocess)`: the last place inside the manifest."""
        words = "%s: %s" % (type(error).__name__, error) if str(error) else type(error).__name__
        if isinstance(error, SyntaxError) and error.filename in self._files:
            return "%s (%s:%s, in %s)" % (
                type(error).__name__ + ": " + error.msg,
                _short(error.filename),
                error.lineno,
                stage,
            )
        places = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in self._files]
        if not places:
            return "%s (in %s)" % (words, stage)
        return "%s (%s:%d, in %s)" % (words, _short(places[-1].filename), places[-1].lineno, places[-1].name)


def _short(file):
    return file.replace("\\", "/").rpartition("/")[2]

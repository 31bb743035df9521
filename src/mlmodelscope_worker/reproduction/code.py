"""The Python of one side: its files, and its functions called one at a time."""

import importlib
import importlib.util
import os
import sys
import traceback

from ..failure import describe_failure
from .verdict import CodeError, Skipped

_LONGEST = 600


class Code(object):
    """Functions of the first file; the other files are modules that it may import."""

    def __init__(self, files, folder):
        self.name = files[0][0] if files else ""
        self._places = set()
        for name, text in files:
            path = os.path.join(folder, os.path.basename(name))
            with open(path, "w", encoding="utf-8") as target:
                target.write(text)
            self._places.add(path)
        self._module = None
        if files:
            sys.path.insert(0, folder)
            self._module = self._load(os.path.join(folder, os.path.basename(self.name)))

    def _load(self, path):
        name = os.path.splitext(os.path.basename(path))[0]
        importlib.invalidate_caches()
        found = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(found)
        sys.modules[name] = module
        self.guarded("the file", found.loader.exec_module, module)
        return module

    def __contains__(self, name):
        return getattr(self._module, name, None) is not None

    def get(self, name):
        """What the module calls so; Skipped where it has no such thing."""
        if name not in self:
            raise Skipped("%s has no `%s`" % (self.name, name) if self.name else "no code is named")
        return getattr(self._module, name)

    def call(self, name, *arguments):
        """What the function returns; whatever it raises is a failure with its place."""
        return self.guarded("`%s`" % name, self.get(name), *arguments)

    def guarded(self, what, function, *arguments):
        try:
            return function(*arguments)
        except (CodeError, Skipped):
            raise
        except (Exception, SystemExit) as error:
            raise CodeError("%s raises %s%s" % (what, describe_failure(error)[:_LONGEST], self._place(error)))

    def _place(self, error):
        if isinstance(error, SyntaxError):
            return " (%s:%s)" % (os.path.basename(error.filename or ""), error.lineno)
        frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename in self._places]
        if not frames:
            return ""
        return " (%s:%s, in %s)" % (os.path.basename(frames[-1].filename), frames[-1].lineno, frames[-1].name)

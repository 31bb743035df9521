"""Rules of installed packages, as the host knows them: by name alone, since only the measuring process imports them."""

from __future__ import annotations

from mlmodelscope.errors import MetricError, PluginError
from mlmodelscope.measure.ruler import ruler
from mlmodelscope.plugins.installed import Plugin
from mlmodelscope.plugins.registry import Registry
from mlmodelscope.task.task import TASKS


class RulesElsewhere(Registry[object]):
    """Rules need numpy, which the host does not have: whether one can be used is asked where it would be."""

    def _try(self, plugin: Plugin) -> PluginError | None:
        try:
            ruler().load(plugin.name)
        except PluginError as error:
            return error
        except MetricError as error:  # it ended the process, or there is no numpy to start one with
            return self._error(plugin, error.message)
        return None


RULES = RulesElsewhere("rule", "rules", {}, object, type, names="[a-z][a-z0-9_]*", built_in=TASKS.built_in)

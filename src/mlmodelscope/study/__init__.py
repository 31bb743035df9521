"""The papers' experiments, each one a command. Importing this package registers them."""

from mlmodelscope.study import (  # noqa: F401  (registering)
    cold_start,
    frameworks,
    language,
    machine_settings,
    pitfalls,
    table1,
    threads,
)
from mlmodelscope.study.study import STUDIES, Outcome, Request, Study

__all__ = ["STUDIES", "Outcome", "Request", "Study"]

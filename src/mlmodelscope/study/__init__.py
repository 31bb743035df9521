"""The papers' experiments, each one a command. Importing this package registers them."""

from mlmodelscope.study import cold_start, frameworks, language, pitfalls, table1, threads  # noqa: F401  (registering)
from mlmodelscope.study.study import STUDIES, Outcome, Request, Study

__all__ = ["STUDIES", "Outcome", "Request", "Study"]

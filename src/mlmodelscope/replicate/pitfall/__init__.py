"""The pitfalls that are known. Importing this package registers them; others come as plugins, by the same door."""

from collections.abc import Iterable
from importlib.metadata import entry_points

from mlmodelscope.errors import UsageError
from mlmodelscope.replicate.pitfall import (  # noqa: F401  (registering is the point)
    answers,
    geometry,
    picture,
    stack,
    values,
)
from mlmodelscope.replicate.pitfall.pitfall import PITFALLS, Pitfall, Variant, finer_variants, pitfall, variants_of

__all__ = ["PITFALLS", "Pitfall", "Variant", "check_names", "finer_variants", "load_plugins", "pitfall", "variants_of"]


def load_plugins() -> None:
    """Pitfalls of installed packages: modules under the entry point `mlmodelscope.pitfalls` that register theirs."""
    for entry in entry_points(group="mlmodelscope.pitfalls"):
        entry.load()


def check_names(names: Iterable[str]) -> None:
    """Refuse a pitfall that nobody knows."""
    load_plugins()
    unknown = [name for name in names if name not in PITFALLS]
    if unknown:
        raise UsageError(f"no pitfall is called {', '.join(unknown)}", hint=f"known: {', '.join(PITFALLS)}")

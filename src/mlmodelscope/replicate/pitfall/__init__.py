"""The pitfalls that are known. Importing this package registers them; others come as plugins, by the same door."""

from importlib.metadata import entry_points

from mlmodelscope.replicate.pitfall import (  # noqa: F401  (registering is the point)
    answers,
    geometry,
    picture,
    stack,
    values,
)
from mlmodelscope.replicate.pitfall.pitfall import PITFALLS, Pitfall, Variant, finer_variants, pitfall, variants_of

__all__ = ["PITFALLS", "Pitfall", "Variant", "finer_variants", "load_plugins", "pitfall", "variants_of"]


def load_plugins() -> None:
    """Pitfalls of installed packages: modules under the entry point `mlmodelscope.pitfalls` that register theirs."""
    for entry in entry_points(group="mlmodelscope.pitfalls"):
        entry.load()

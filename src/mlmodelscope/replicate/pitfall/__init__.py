"""The pitfalls that are known. Importing this package registers them; others come as plugins, by the same door."""

from importlib.metadata import entry_points

from mlmodelscope.replicate.pitfall import answers, geometry, picture, values  # noqa: F401  (registering is the point)
from mlmodelscope.replicate.pitfall.pitfall import PITFALLS, Pitfall, Variant, pitfall, variants_of

__all__ = ["PITFALLS", "Pitfall", "Variant", "load_plugins", "pitfall", "variants_of"]


def load_plugins() -> None:
    """Pitfalls of installed packages: modules under the entry point `mlmodelscope.pitfalls` that register theirs."""
    for entry in entry_points(group="mlmodelscope.pitfalls"):
        entry.load()

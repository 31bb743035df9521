"""The pitfalls that are known. Importing this package registers them; installed packages add others."""

from collections.abc import Iterable

from mlmodelscope.errors import UsageError
from mlmodelscope.replicate.pitfall import (  # noqa: F401  (registering is the point)
    answers,
    boxes,
    comparing,
    degrading,
    enhancing,
    generations,
    geometry,
    language_engines,
    letterboxing,
    maps,
    picture,
    prompting,
    prompts,
    quantized,
    samples,
    scoring,
    sounds,
    spectra,
    stack,
    tables,
    tagging,
    texts,
    values,
    vectors,
)
from mlmodelscope.replicate.pitfall.pitfall import (
    PITFALLS,
    REGISTRY,
    Pitfall,
    Variant,
    finer_variants,
    pitfall,
    variants_of,
)

__all__ = [
    "PITFALLS",
    "REGISTRY",
    "Pitfall",
    "Variant",
    "check_names",
    "finer_variants",
    "load_plugins",
    "pitfall",
    "variants_of",
]


def load_plugins() -> None:
    """Those of installed packages as well; a broken one is left out."""
    REGISTRY.all()


def check_names(names: Iterable[str]) -> None:
    """Refuse a pitfall that nobody knows, or that is broken."""
    unknown = [name for name in names if REGISTRY.find(name) is None]
    if unknown:
        load_plugins()
        raise UsageError(f"no pitfall is called {', '.join(unknown)}", hint=f"known: {', '.join(PITFALLS)}")

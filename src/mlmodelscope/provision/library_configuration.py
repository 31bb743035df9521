"""What a library says of one of its architectures, asked in a stack that has it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from mlmodelscope.errors import UsageError
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.provision.stack import CurrentStack, Progress, StackStore, choose_stack
from mlmodelscope.provision.stack.inside import run_inside
from mlmodelscope.settings import Settings
from mlmodelscope_worker.builder.libraries import check_architecture
from mlmodelscope_worker.parameters import ParameterError

ASKED = ("timm",)
"""Libraries whose configurations can be asked for by name."""


def library_configuration(
    builder: str, architecture: str, settings: Settings, progress: Progress = lambda line: None
) -> dict[str, Any]:
    """As the importer of that library reads it from a file."""
    try:
        check_architecture(builder, architecture)
    except ParameterError as error:
        raise UsageError(f"`{architecture[:80]}` {error.message}") from None
    source = {"builder": builder, "architecture": architecture, "weights_path": "weights"}
    wanted = ModelManifest.model_validate(
        {
            "name": "model",
            "version": "1.0.0",
            "task": "general",
            "framework": {"name": "pytorch"},
            "inputs": [{"type": "image"}],
            "outputs": [{"type": "tensor"}],
            "source": source,
        }
    )
    _, stack = choose_stack(wanted, None, settings, progress)
    runnable = (
        CurrentStack() if stack.recipe is None else StackStore(settings).build(stack.recipe, stack.name, progress)
    )
    with tempfile.TemporaryDirectory(prefix="mlmodelscope-library-") as place:
        asked = {"builder": builder, "architecture": architecture}
        found: dict[str, Any] = run_inside(runnable, "builder.configuration", asked, Path(place))["configuration"]
    return found

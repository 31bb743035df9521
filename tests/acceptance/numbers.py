"""A record of a model and a dataset; where its files or its stack cannot be had, the test skips with the reason."""

from pathlib import Path

import pytest

from mlmodelscope import Options, Settings, evaluate
from mlmodelscope.errors import ArtifactError, StackError
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.record.record import Record


def evaluated(
    model: ModelManifest | Path, dataset: DatasetManifest | Path, settings: Settings, batch: int = 1
) -> Record:
    try:
        record = evaluate(model, dataset, Options(batch_size=batch), settings=settings)
    except (ArtifactError, StackError) as error:
        if isinstance(error, ArtifactError) and "cannot fetch" not in error.message:
            raise
        pytest.skip(f"not to be had here: {error.message}")
    assert record.failed == 0
    return record

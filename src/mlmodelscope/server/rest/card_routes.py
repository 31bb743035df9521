"""What the pages of models and datasets show: best numbers, a model's size and network, classes and samples."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from mlmodelscope.server.desk import Desk
from mlmodelscope.server.handle import dataset_samples, model_files, results
from mlmodelscope.server.rest import card_answers as own
from mlmodelscope.server.rest.body import CheckedRoute
from mlmodelscope.server.rest.door import Someone, TheDesk
from mlmodelscope.server.rest.problem import fails
from mlmodelscope.server.rest.sample_answers import SampleInput
from mlmodelscope.server.rest.sample_routes import SOUND, SampleName, shown

router = APIRouter(prefix="/api/v1", route_class=CheckedRoute, responses=fails(), tags=["catalogue"])
Name = Annotated[str, Path(min_length=1, max_length=100)]
Wanted = Annotated[str | None, Query(min_length=1, max_length=100)]
Version = Annotated[str | None, Query(min_length=1, max_length=100, description="By default the newest.")]
Limit = Annotated[int, Query(ge=1, le=1000)]
Start = Annotated[int, Query(ge=0, le=10**9)]


@router.get("/results", response_model=own.ResultList)
def list_results(
    desk: TheDesk,
    person: Someone,
    model: Annotated[list[str] | None, Query(max_length=100, description="Only of these models.")] = None,
    dataset: Wanted = None,
    best: Annotated[bool, Query(description="One number for each version of the models that are named.")] = False,
    limit: Limit = 100,
) -> dict[str, Any]:
    """The best measured numbers with the claims about them; none that a replication or sensitivity made on its way."""
    if best:
        return results.best(desk, person, model or ())
    return results.find(desk, person, model or (), dataset, limit)


@router.get("/models/{name}/facts", response_model=own.ModelFacts, responses=fails(404))
async def get_model_facts(desk: TheDesk, person: Someone, name: Name, version: Version = None) -> Any:
    """Parameters and size of a model: from its file where the server has it, else from the catalog."""
    return await _slowly(desk, model_files.facts, desk, person, name, version)


@router.get("/models/{name}/network", response_model=own.ModelNetwork, responses=fails(404))
async def get_model_network(desk: TheDesk, person: Someone, name: Name, version: Version = None) -> Any:
    """The layers of a model whose file the server has, as `mlmodelscope inspect` reads them; nothing of it runs."""
    return await _slowly(desk, model_files.network, desk, person, name, version)


@router.get("/datasets/{name}/classes", response_model=own.DatasetClassPage, responses=fails(404))
async def get_dataset_classes(
    desk: TheDesk,
    person: Someone,
    name: Name,
    q: Annotated[str | None, Query(max_length=200, description="Words that must occur.")] = None,
    start: Start = 0,
    limit: Limit = 100,
) -> Any:
    """Classes of a dataset; without samples where only their list is here."""
    return await _slowly(desk, dataset_samples.classes, desk, person, name, q, start, limit)


@router.get("/datasets/{name}/input", response_model=SampleInput, responses=fails(404))
async def get_dataset_input(desk: TheDesk, person: Someone, name: Name, sample: SampleName) -> Any:
    """A sample of a connected dataset that is not a picture: texts, cells of a row, or how loud a sound is."""
    return await _slowly(desk, dataset_samples.told, desk, person, name, sample)


@router.get("/datasets/{name}/sound", response_class=Response, responses=SOUND)
async def get_dataset_sound(desk: TheDesk, person: Someone, name: Name, sample: SampleName) -> Response:
    """A sample's sound, to be played: WAV, FLAC, MP3 or Ogg, no larger than an input may be."""
    return shown(await _slowly(desk, dataset_samples.sound, desk, person, name, sample))


async def _slowly(desk: Desk, handle: Callable[..., Any], *arguments: Any) -> Any:
    """In threads of their own: reading a large file must not keep everybody else waiting."""
    return await asyncio.get_running_loop().run_in_executor(desk.gallery.pool, handle, *arguments)

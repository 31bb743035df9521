"""Samples of records and of datasets: searched, by class, and as pictures; and what a record is worth."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Response

from mlmodelscope.report.thumbnail import Picture
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.handle import dataset_samples, record_claims, records, rerun, sample_inputs, samples
from mlmodelscope.server.rest import record_answers
from mlmodelscope.server.rest import sample_answers as own
from mlmodelscope.server.rest.body import CheckedRoute
from mlmodelscope.server.rest.door import Someone, TheDesk
from mlmodelscope.server.rest.problem import fails

router = APIRouter(prefix="/api/v1", route_class=CheckedRoute, responses=fails())
Name = Annotated[str, Path(min_length=1, max_length=100)]
# In the question and not in the path: many names hold slashes, which proxies treat as they like.
SampleName = Annotated[str, Query(min_length=1, max_length=1000, description="The id of the sample.")]
Side = Annotated[int, Query(ge=16, le=1024, description="Pixels that it may be wide and high.")]
Start = Annotated[int, Query(ge=0, le=10**12)]
Limit = Annotated[int, Query(ge=1, le=1000)]
Score = Annotated[float | None, Query(ge=-1e30, le=1e30)]
Class = Annotated[int | None, Query(ge=-(2**31), lt=2**31)]
_BINARY = {"schema": {"type": "string", "format": "binary"}}
_PICTURE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/jpeg": _BINARY, "image/png": _BINARY}, "description": "A small picture."},
    **fails(404),
}
SOUND: dict[int | str, dict[str, Any]] = {
    200: {
        "content": dict.fromkeys(("audio/wav", "audio/flac", "audio/mpeg", "audio/ogg"), _BINARY),
        "description": "The sound, or the piece of a WAV file that the sample is.",
    },
    **fails(404),
}


@router.get("/records/{name}/samples", tags=["records"], response_model=record_answers.SamplePage, responses=fails(404))
def get_samples(
    desk: TheDesk,
    person: Someone,
    name: Name,
    only: Literal["right", "wrong", "failed"] | None = None,
    q: Annotated[
        str | None, Query(max_length=200, description="In the id, the label, the answer or the error.")
    ] = None,
    id: Annotated[str | None, Query(min_length=1, max_length=1000, description="The whole name of one sample.")] = None,
    label: Annotated[Class, Query(description="The class that it is.")] = None,
    answer: Annotated[Class, Query(description="The class that was said first.")] = None,
    above: Annotated[Score, Query(description="The first score is greater.")] = None,
    below: Annotated[Score, Query(description="The first score is less.")] = None,
    sort: Annotated[
        Literal["order", "score", "latency", "quality"] | None,
        Query(description="By default by quality, the worst first, where samples have one; else in their order."),
    ] = None,
    descending: bool = False,
    start: Start = 0,
    limit: Limit = 100,
) -> dict[str, Any]:
    """What the model said of each sample: some of them, a page at a time."""
    narrowed: dict[str, Any] = {
        "only": only,
        "q": q,
        "id": id,
        "label": label,
        "answer": answer,
        "above": above,
        "below": below,
    }
    return samples.find(desk, person, name, **narrowed, sort=sort, descending=descending, start=start, limit=limit)


@router.get("/records/{name}/shapes", tags=["records"], response_model=own.SampleShapes, responses=fails(404))
async def get_sample_shapes(desk: TheDesk, person: Someone, name: Name, sample: SampleName) -> Any:
    """What is true of a sample and what was answered, to be drawn over its picture."""
    return await _slowly(desk, samples.shapes, desk, person, name, sample)


@router.get("/records/{name}/prompt", tags=["records"], response_model=own.SamplePrompt, responses=fails(404))
async def get_sample_prompt(desk: TheDesk, person: Someone, name: Name, sample: SampleName) -> Any:
    """What a language model was shown of a sample, in text and tokens, as far as the record keeps it."""
    return await _slowly(desk, samples.prompt, desk, person, name, sample)


@router.get("/records/{name}/classes", tags=["records"], response_model=own.ClassTable, responses=fails(404))
def get_classes(desk: TheDesk, person: Someone, name: Name) -> Any:
    """Accuracy class by class with intervals, what each is taken for, and the most confused pairs."""
    return samples.classes(desk, person, name)


@router.get("/records/{name}/claims", tags=["records"], response_model=own.RecordClaimList, responses=fails(404))
def get_record_claims(desk: TheDesk, person: Someone, name: Name) -> Any:
    """What was published of the model beside what this record measured, and what may be said of the two."""
    return {"items": record_claims.find(desk, person, name)}


@router.get("/records/{name}/request", tags=["records"], response_model=own.RecordRequest, responses=fails(404))
def get_record_request(desk: TheDesk, person: Someone, name: Name) -> Any:
    """What to ask for to have the same done again."""
    return rerun.request(desk, person, name)


@router.get("/records/{name}/manifests", tags=["records"], response_model=own.RecordManifestList, responses=fails(404))
def get_record_manifests(desk: TheDesk, person: Someone, name: Name) -> Any:
    """The manifests that a record was made from, as they were written, also those that the catalog does not have."""
    return {"items": records.manifests(desk, person, name)}


@router.get("/records/{name}/picture", tags=["records"], response_class=Response, responses=_PICTURE)
async def get_sample_picture(
    desk: TheDesk, person: Someone, name: Name, sample: SampleName, side: Side = 96
) -> Response:
    """A sample's picture, small, where its dataset is available; nothing is fetched for it."""
    return shown(await _slowly(desk, samples.picture, desk, person, name, sample, side))


@router.get("/records/{name}/input", tags=["records"], response_model=own.SampleInput, responses=fails(404))
async def get_sample_input(desk: TheDesk, person: Someone, name: Name, sample: SampleName) -> Any:
    """What the model was asked about, where the dataset is available: texts, cells of a row, or how loud a sound is."""
    return await _slowly(desk, sample_inputs.told, desk, person, name, sample)


@router.get("/records/{name}/sound", tags=["records"], response_class=Response, responses=SOUND)
async def get_sample_sound(desk: TheDesk, person: Someone, name: Name, sample: SampleName) -> Response:
    """A sample's sound, to be played: WAV, FLAC, MP3 or Ogg, no larger than an input may be."""
    found = await _slowly(desk, sample_inputs.sound, desk, person, name, sample)
    return shown(found)


@router.get("/records/{name}/heard", tags=["records"], response_model=own.SampleHeard, responses=fails(404))
async def get_sample_heard(desk: TheDesk, person: Someone, name: Name, sample: SampleName) -> Any:
    """What the model hears of a sound: the tensor of each input that takes it, as a picture."""
    return await _slowly(desk, sample_inputs.heard, desk, person, name, sample)


@router.get("/records/{name}/residuals", tags=["records"], response_model=own.Residuals, responses=fails(404))
def get_record_residuals(desk: TheDesk, person: Someone, name: Name) -> Any:
    """Numbers that were answered beside those that are true, as points of a plot, and the largest errors."""
    return sample_inputs.residuals(desk, person, name)


@router.get("/datasets/{name}/samples", tags=["catalogue"], response_model=own.DatasetSamplePage, responses=fails(404))
async def get_dataset_samples(desk: TheDesk, person: Someone, name: Name, start: Start = 0, limit: Limit = 24) -> Any:
    """Samples of a dataset that is available, to try a model with."""
    return await _slowly(desk, dataset_samples.listed, desk, person, name, start, limit)


@router.get("/datasets/{name}/picture", tags=["catalogue"], response_class=Response, responses=_PICTURE)
async def get_dataset_picture(
    desk: TheDesk, person: Someone, name: Name, sample: SampleName, side: Side = 96
) -> Response:
    return shown(await _slowly(desk, dataset_samples.picture, desk, person, name, sample, side))


@router.get(
    "/datasets/{name}/content",
    tags=["catalogue"],
    response_class=Response,
    responses={
        200: {"content": {"application/octet-stream": _BINARY}, "description": "The file of the sample."},
        **fails(404),
    },
)
async def get_sample_content(desk: TheDesk, person: Someone, name: Name, sample: SampleName) -> Response:
    """A sample as it is, to ask a model about it; needs the scope `run`."""
    found = await _slowly(desk, dataset_samples.content, desk, person, name, sample)
    # Somebody's file: it is handed over to be asked about, not to be shown by a browser.
    headers = {"Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff"}
    return Response(found, media_type="application/octet-stream", headers=headers)


async def _slowly(desk: Desk, handle: Callable[..., Any], *arguments: Any) -> Any:
    """In threads of their own: opening a large dataset must not keep everybody else waiting."""
    return await asyncio.get_running_loop().run_in_executor(desk.gallery.pool, handle, *arguments)


def shown(picture: Picture | sample_inputs.SoundFile) -> Response:
    headers = {"Cache-Control": "private, max-age=86400", "X-Content-Type-Options": "nosniff"}
    return Response(picture.data, media_type=picture.media_type, headers=headers)

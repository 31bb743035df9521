"""The catalogue: manifests checked, converted and begun; models, datasets, stacks and machines to choose from."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Header, Path, Query, Request, Response

from mlmodelscope.author.request import Request as Said
from mlmodelscope.catalog.search import Query as CatalogQuery
from mlmodelscope.server.desk import demand
from mlmodelscope.server.handle import authoring, described, listing, metrics, registry
from mlmodelscope.server.rest import catalogue_answers as own
from mlmodelscope.server.rest import manifest_answers
from mlmodelscope.server.rest.body import CheckedRoute
from mlmodelscope.server.rest.door import Someone, TheDesk
from mlmodelscope.server.rest.problem import fails
from mlmodelscope.server.rest.received import BINARY, received

router = APIRouter(prefix="/api/v1", route_class=CheckedRoute, responses=fails())
Text = Annotated[str, Body(max_length=1_000_000, examples=["name: mine\nversion: 1.0.0\n…"])]
Name = Annotated[str, Path(min_length=1, max_length=100)]
Words = Annotated[str | None, Query(max_length=200, description="Words that must occur.")]
Choices = Annotated[list[str] | None, Query(max_length=50)]
OneChoice = Annotated[str | None, Query(max_length=200)]
Flag = Annotated[str | None, Query(max_length=300)]
FormerFlag = Annotated[str | None, Query(max_length=300, deprecated=True, description="Older name of `license`.")]
FormerChoices = Annotated[
    list[str] | None, Query(max_length=50, deprecated=True, description="Older name of `license`.")
]
Tag = Annotated[str | None, Header(max_length=100)]
Start = Annotated[int, Query(ge=0, le=10**9)]
Limit = Annotated[int, Query(ge=1, le=1000)]
_UNCHANGED: dict[int | str, dict[str, Any]] = {304: {"description": "It is as it was."}}
_LARGEST_MODEL = 4 << 30


@router.post("/manifests/check", tags=["manifests"], response_model=own.Checked)
def check_manifest(
    desk: TheDesk,
    person: Someone,
    text: Text,
    fix: Annotated[bool, Body(description="Fix what has only one meaning.")] = False,
    verbose: Annotated[bool, Body(description="Also what is only good to know.")] = False,
) -> dict[str, Any]:
    """What is wrong with a manifest, where, and how to fix it; an invalid manifest is not an error of the request."""
    return authoring.check(desk, person, text, fix=fix, verbose=verbose)


@router.post("/manifests/convert", tags=["manifests"], response_model=own.Converted)
def convert_manifest(
    desk: TheDesk,
    person: Someone,
    text: Text,
    explain: Annotated[bool, Body(description="Say beside each implied value why it is there.")] = False,
) -> dict[str, Any]:
    """A manifest of any dialect, upgraded to the current format; comments are kept where they have a place."""
    return authoring.convert(desk, person, text, explain=explain)


@router.post(
    "/manifests/init",
    tags=["manifests"],
    response_model=own.Begun,
    responses=fails(404),
    openapi_extra=BINARY,
)
async def begin_manifest(
    desk: TheDesk,
    person: Someone,
    request: Request,
    file: Annotated[str, Query(min_length=1, max_length=100, description="What the file is called.")],
    artifact: Annotated[
        str | None, Query(max_length=80, description="Digest of one that is here; else send it.")
    ] = None,
    name: Flag = None,
    version: Flag = None,
    task: Flag = None,
    color: Flag = None,
    scale: Flag = None,
    mean: Flag = None,
    std: Flag = None,
    resize: Flag = None,
    crop: Flag = None,
    library: Flag = None,
    method: Flag = None,
    labels: Flag = None,
    license: Flag = None,
    licence: FormerFlag = None,
    description: Flag = None,
    dataset: Flag = None,
) -> dict[str, Any]:
    """A manifest from a model file: the body is the file. It is read by our own readers, and nothing in it is run."""
    demand(person, "run")
    said = Said(
        name=name,
        version=version,
        task=task,
        color=color,
        scale=scale,
        mean=mean,
        std=std,
        resize=resize,
        crop=crop,
        library=library,
        method=method,
        labels=labels,
        license=license if license is not None else licence,
        description=description,
        dataset=dataset,
    )
    largest = min(_LARGEST_MODEL, desk.config.largest_upload)
    async with received(desk, request, largest) as path:
        content = artifact if artifact is not None else path
        return await asyncio.to_thread(authoring.begin, desk, person, file, content, said)


@router.get("/manifests/{kind}/schema", tags=["manifests"], response_model=dict[str, Any])
def get_manifest_schema(desk: TheDesk, person: Someone, kind: manifest_answers.ManifestKind) -> dict[str, Any]:
    """JSON Schema of a kind of manifest, for editors."""
    return authoring.schema(desk, person, kind)


@router.get("/manifests/{kind}/{name}", tags=["manifests"], response_model=own.VersionList, responses=fails(404))
def list_versions(desk: TheDesk, person: Someone, kind: manifest_answers.ManifestKind, name: Name) -> dict[str, Any]:
    """All versions of a manifest, the newest first."""
    return {"items": authoring.versions(desk, person, kind, name)}


@router.get("/models", tags=["catalogue"], response_model=own.ModelPage, responses=_UNCHANGED)
def list_models(
    desk: TheDesk,
    person: Someone,
    response: Response,
    q: Words = None,
    task: Choices = None,
    framework: Choices = None,
    architecture: Choices = None,
    license: Choices = None,
    licence: FormerChoices = None,
    verdict: Choices = None,
    sort: Literal["name", "newest", "evaluations"] = "name",
    start: Start = 0,
    limit: Limit = 50,
    if_none_match: Tag = None,
) -> Any:
    """Models with their claims and verdicts; facets say how many there would be with each other choice."""
    facets = {
        "task": task,
        "framework": framework,
        "architecture": architecture,
        "license": license or licence,
        "verdict": verdict,
    }
    wanted = listing.Wanted(q, {key: value or () for key, value in facets.items()}, sort, start, limit)
    return _tagged(listing.models(desk, person, wanted), wanted, response, if_none_match)


@router.get("/described-models", tags=["catalogue"], response_model=own.DescribedPage)
def list_described_models(
    desk: TheDesk,
    person: Someone,
    q: Words = None,
    source: OneChoice = None,
    task: OneChoice = None,
    architecture: OneChoice = None,
    license: OneChoice = None,
    max_parameters: Annotated[int | None, Query(ge=0, le=1 << 60)] = None,
    metric: OneChoice = None,
    dataset: OneChoice = None,
    runnable: bool | None = None,
    start: Start = 0,
    limit: Limit = 50,
) -> dict[str, Any]:
    """Models that libraries and repositories describe; each can be evaluated by its `reference`."""
    wanted = CatalogQuery(
        text=q or "",
        source=source,
        task=task,
        architecture=architecture,
        license=license,
        max_parameters=max_parameters,
        metric=metric,
        dataset=dataset,
        runnable=runnable,
        offset=start,
        limit=limit,
    )
    return described.described(desk, person, wanted)


@router.get("/datasets", tags=["catalogue"], response_model=own.DatasetPage, responses=_UNCHANGED)
def list_datasets(
    desk: TheDesk,
    person: Someone,
    response: Response,
    q: Words = None,
    task: Choices = None,
    format: Choices = None,
    license: Choices = None,
    licence: FormerChoices = None,
    sort: Literal["name", "newest", "evaluations"] = "name",
    start: Start = 0,
    limit: Limit = 50,
    if_none_match: Tag = None,
) -> Any:
    """Datasets, as models."""
    facets = {"task": task, "format": format, "license": license or licence}
    wanted = listing.Wanted(q, {key: value or () for key, value in facets.items()}, sort, start, limit)
    return _tagged(listing.datasets(desk, person, wanted), wanted, response, if_none_match)


def _tagged(page: listing.Page, wanted: listing.Wanted, response: Response, known: str | None) -> Any:
    tag = f'"{page.tag}"'
    if known == tag:
        return Response(status_code=304)
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = "private, no-cache"
    return page.spelled(wanted)


@router.get("/frameworks", tags=["catalogue"], response_model=own.FrameworkList)
def list_frameworks(
    desk: TheDesk,
    person: Someone,
    name: Annotated[str | None, Query(max_length=100)] = None,
    version: Annotated[str | None, Query(max_length=100, description="A constraint, such as `>=1.10 and <2`.")] = None,
) -> dict[str, Any]:
    """Frameworks, with the agents that have them or can build them."""
    return {"items": registry.frameworks(desk, person, name, version)}


@router.get("/stacks", tags=["catalogue"], response_model=own.StackList)
def list_stacks(desk: TheDesk, person: Someone, q: Words = None) -> dict[str, Any]:
    """Software stacks, with the agents that have built them or can."""
    return {"items": registry.stacks(desk, person, q)}


@router.get("/machines", tags=["catalogue"], response_model=own.MachineList)
def list_machines(desk: TheDesk, person: Someone) -> dict[str, Any]:
    """The agents' machines, each as a hardware manifest that it meets."""
    return {"items": registry.machines(desk, person)}


@router.get("/metrics", tags=["catalogue"], response_model=own.MetricList)
def list_metrics(
    desk: TheDesk,
    person: Someone,
    task: Annotated[str | None, Query(max_length=100, description="Only those of this task.")] = None,
) -> dict[str, Any]:
    """Metrics that records keep and claims are about; of one task its most important first."""
    return {"items": metrics.find(desk, person, task)}

"""Asking a model, and what agents need to answer. An answer may come as one document, or as events while one waits."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Body, Header, Path, Request
from fastapi.responses import StreamingResponse

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.ledger.prediction import Ending, PredictionRequest
from mlmodelscope.server.handle import predictions
from mlmodelscope.server.rest import prediction_answers as answers
from mlmodelscope.server.rest.body import CheckedRoute
from mlmodelscope.server.rest.door import Someone, TheDesk
from mlmodelscope.server.rest.problem import fails, problem_of
from mlmodelscope.trace.caller import parse_traceparent

router = APIRouter(prefix="/api/v1", route_class=CheckedRoute)
Name = Annotated[str, Path(min_length=1, max_length=100)]
AgentName = Annotated[str, Body(min_length=1, max_length=100)]
_LONGEST_WAIT_S = 50.0
_EVENT_STREAM = "text/event-stream"
_EVENT = {
    "type": "object",
    "properties": {
        "event": {
            "type": "string",
            "enum": ["taken", "downloading", "building", "opening", "opened", "piece", "answer", "problem"],
        },
        "data": {
            "type": "string",
            "description": "JSON with the kind; `piece` has some more `text` that a language model writes, `answer` is "
            "a Prediction, `problem` a Problem.",
        },
    },
}


@router.post(
    "/predictions",
    tags=["predictions"],
    response_model=answers.Prediction,
    responses={
        200: {
            "description": "The answer; with `Accept: text/event-stream` what happens until there is one.",
            "content": {_EVENT_STREAM: {"schema": _EVENT}},
        },
        **fails(404, 409, 504),
    },
)
async def predict(
    desk: TheDesk,
    person: Someone,
    asked: PredictionRequest,
    accept: Annotated[str | None, Header()] = None,
    traceparent: Annotated[
        str | None,
        Header(
            description="The caller's trace, by W3C's Trace Context: where it is sampled, spans of the answer join it."
        ),
    ] = None,
) -> Any:
    """Ask a model about one input. Nothing is recorded but the spans of a caller's trace."""
    caller = parse_traceparent(traceparent)
    sent = await asyncio.to_thread(predictions.sent_of, desk, asked.input)
    question = await asyncio.to_thread(predictions.pose, desk, person, asked)
    if _EVENT_STREAM not in (accept or "").lower():
        return await predictions.ask(desk, question, sent, caller)

    async def stream() -> AsyncIterator[str]:
        async with aclosing(predictions.happening(desk, question, sent, caller)) as events:
            try:
                async for event in events:
                    yield _event(event)
            except MLModelScopeError as error:
                yield _event({"kind": "problem", **(problem_of(error) or {})})

    return StreamingResponse(stream(), media_type=_EVENT_STREAM, headers={"Cache-Control": "no-store"})


@router.get("/predictions/limits", tags=["predictions"], response_model=answers.Limits, responses=fails())
def get_limits(desk: TheDesk, person: Someone) -> dict[str, Any]:
    """What a model may be asked about here."""
    return predictions.limits(desk, person)


def _event(event: Mapping[str, Any]) -> str:
    return f"event: {event['kind']}\ndata: {json.dumps(event, default=str)}\n\n"


@router.post(
    "/agents/{identity}/predictions/take",
    tags=["for agents"],
    response_model=answers.TakenPrediction,
    responses=fails(404, 410),
)
async def take_prediction(
    desk: TheDesk,
    person: Someone,
    request: Request,
    identity: Name,
    incarnation: Annotated[str, Body(min_length=1, max_length=40)],
    wait_s: Annotated[float, Body(ge=0, le=_LONGEST_WAIT_S)] = 0,
) -> dict[str, Any]:
    """The next prediction for this agent; where there is none it waits for one, for a while."""
    found = await predictions.take(desk, person, identity, incarnation, wait_s, request.is_disconnected)
    if found is None:
        return {"prediction": None}
    content = base64.b64encode(found.content).decode() if found.content is not None else None
    return {"prediction": {**found.posed.model_dump(mode="json", exclude_none=True), "content": content}}


@router.post("/predictions/{identity}/events", tags=["for agents"], status_code=204, responses=fails(404, 410))
async def tell_prediction(
    desk: TheDesk, person: Someone, identity: Name, agent: AgentName, event: answers.ToldPrediction
) -> None:
    """How it goes."""
    predictions.tell(desk, person, agent, identity, event.facts())


@router.post("/predictions/{identity}/answer", tags=["for agents"], status_code=204, responses=fails(404, 410))
async def answer_prediction(
    desk: TheDesk, person: Someone, identity: Name, agent: AgentName, ending: Annotated[Ending, Body()]
) -> None:
    """The answer, or why there is none."""
    predictions.answer(desk, person, agent, identity, ending)


@router.post("/predictions/{identity}/return", tags=["for agents"], status_code=204, responses=fails(404, 410))
async def return_prediction(
    desk: TheDesk,
    person: Someone,
    identity: Name,
    agent: Annotated[str, Body(min_length=1, max_length=100, embed=True)],
) -> None:
    """It cannot be answered here now; whoever else fits may."""
    predictions.give_back(desk, person, agent, identity)

"""Asking a model over gRPC: once, or about many things in turn while it stays open."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from mlmodelscope.errors import InputError, UsageError
from mlmodelscope.ledger.prediction import Input, PredictionRequest
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.handle import predictions
from mlmodelscope.server.rest.problem import problem_of
from mlmodelscope.server.rpc.caller import CALLER

Asked = Mapping[str, Any]
Talk = Callable[[Desk, Person, AsyncIterator[Asked]], AsyncIterator[Mapping[str, Any]]]


async def predict(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    sent = _input(desk, asked)
    question = await asyncio.to_thread(predictions.pose, desk, person, _request(asked))
    return await predictions.ask(desk, question, sent, CALLER.get())


async def predict_many(desk: Desk, person: Person, inputs: AsyncIterator[Asked]) -> AsyncIterator[Mapping[str, Any]]:
    question, number = None, 0
    async for asked in inputs:
        if question is None:
            question = await asyncio.to_thread(predictions.pose, desk, person, _request(asked))
            if "input" not in asked:
                continue
        elif "question" in asked:
            raise UsageError("the question is in the first message alone", hint="another question is another call")
        try:
            sent = _input(desk, asked)
            yield {"number": number, "prediction": await predictions.ask(desk, question, sent, CALLER.get())}
        except InputError as error:  # the others may be better
            yield {"number": number, "problem": problem_of(error)}
        number += 1


def _input(desk: Desk, asked: Asked) -> predictions.Sent:
    given = asked.get("input", {})
    if "content" in given:  # bytes as they are: no base64 is needed here
        return predictions.Sent(predictions.check_size(desk, given["content"]))
    try:
        read = Input.model_validate(given)
    except ValidationError as error:
        raise RequestValidationError(error.errors()) from None
    return predictions.sent_of(desk, read)


def _request(asked: Asked) -> PredictionRequest:
    question = dict(asked.get("question", {}))
    for name in ("model", "software"):
        if name in question:
            question[name] = question[name].get("name", question[name])
    try:
        return PredictionRequest.model_validate({**question, "input": {"text": ""}})
    except ValidationError as error:
        raise RequestValidationError(error.errors()) from None


PREDICTION_CALLS: dict[str, Callable[[Desk, Person, Asked], Awaitable[Mapping[str, Any]]]] = {"Predict": predict}
TALKS: dict[str, Talk] = {"PredictMany": predict_many}
LARGE = ("Predict", "PredictMany")
"""Methods whose messages hold an input, and may be as large as that."""

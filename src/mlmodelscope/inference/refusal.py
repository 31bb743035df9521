"""What is answered instead of tensors, in one tree of HTTP's words; gRPC has others for the same."""

from __future__ import annotations

from mlmodelscope.errors import MLModelScopeError


class Refusal(MLModelScopeError):
    """No, and why not; `status` is what HTTP calls it."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def refusal_of(error: Exception) -> Refusal | None:
    """What somebody outside is told of an error; None where it is none that was foreseen."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, MLModelScopeError):
        return Refusal(400, error.message.partition("\nTraceback")[0])  # what happened inside is for the log
    return None

"""Why a database cannot be used, for people."""

from __future__ import annotations

from mlmodelscope.errors import StoreError


def unusable(place: str, reason: str) -> StoreError:
    """`reason` is what the driver says."""
    if reason == "database is locked":  # of what asks without waiting for its turn
        reason = "it is locked by another process, such as a server, an evaluation or a backup"
    return StoreError(f"the database {place} cannot be used: {reason}", hint=_hint(reason))


def one_line(error: BaseException | None) -> str:
    return " ".join(str(error).split())


def _hint(reason: str) -> str | None:
    if "full" in reason:
        return "free some space, or set MLMODELSCOPE_HOME to another disk; nothing that was finished is lost"
    if "is locked" in reason:
        return "let that process finish, or end it; then give the same command again: what was finished is kept"
    if "not a database" in reason or "malformed" in reason:
        return "the file is damaged or is something else; move it away to begin a new one"
    if "readonly" in reason or "unable to open" in reason:
        return "set MLMODELSCOPE_HOME to a folder of yours"
    if "refused" in reason or "could not translate" in reason or "failed to resolve" in reason:
        return "is the database running, and is its address right?"
    return None

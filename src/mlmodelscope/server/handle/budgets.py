"""Requests that may take only so much of the agents' time end when that is spent."""

from __future__ import annotations

from mlmodelscope.ledger.budget import Budgets
from mlmodelscope.ledger.request import Failure
from mlmodelscope.server.desk import Desk


def end_spent(desk: Desk) -> list[str]:
    """End what has nothing left; which requests these were. Agents learn of it at their next heartbeat."""
    ended = []
    for each in Budgets(desk.store.database).spent():
        if not each.is_all:
            continue
        failure = Failure(
            kind="BudgetSpent",
            message=f"agents spent {each.spent_s:.0f} s on it, its budget is {each.budget_s} s",
            hint="ask again with a larger `budget_s`; what was answered is kept and not asked again",
        )
        for evaluation in each.open:
            desk.parts.end_whole(evaluation, None, failure)
        ended.append(each.request)
    return ended

"""Leases survive a clock that is set: nobody is taken for gone because the time of day has jumped.

Leases are moments in the database, because several servers may share it, so they are compared with the time of day.
A steady clock tells a jump from time that has passed.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC

from sqlalchemy import update

from mlmodelscope.ledger.moment import later, now
from mlmodelscope.ledger.tables import agents, evaluations
from mlmodelscope.record.database import Database

_LOG = logging.getLogger(__name__)
_JUMP_S = 1.0
"""A clock that is only adjusted, little by little, moves less than this between two looks."""


class Leases:
    def __init__(self, database: Database, lease_s: float, *, steady: Callable[[], float] = time.monotonic) -> None:
        self._database, self._lease_s, self._steady = database, lease_s, steady
        self._lock = threading.Lock()
        self._offset = self._measured()

    def settle(self) -> None:
        """Look whether the clock has jumped. If so, whoever had a lease before gets one from now on.

        Call it before a lease is judged. It may run twice, or on two servers, for one jump: leases only begin anew.
        """
        with self._lock:
            offset = self._measured()
            jump_s, self._offset = offset - self._offset, offset
        if abs(jump_s) < _JUMP_S:
            return
        _LOG.warning("the clock was set %s by %.0f s", "forward" if jump_s > 0 else "back", abs(jump_s))
        anew = later(self._lease_s)
        # Set back, leases are hours long, also those of agents that have ended: every one becomes a usual one.
        since = later(-jump_s) if jump_s > 0 else anew
        with self._database.writing() as connection:
            for table in (agents, evaluations):
                connection.execute(update(table).where(table.c.lease_until > since).values(lease_until=anew))
            if jump_s < 0:  # a pause before the next attempt is short, and would be hours long
                pausing = evaluations.c.state == "waiting", evaluations.c.not_before > now()
                connection.execute(update(evaluations).where(*pausing).values(not_before=now()))

    def _measured(self) -> float:
        return now().replace(tzinfo=UTC).timestamp() - self._steady()

"""What was found out a moment ago is not found out again, and soon it is."""

import pytest

from mlmodelscope.ledger.recent import Recent


def test_a_moment_later_it_is_found_out_again() -> None:
    now, found = [0.0], iter(range(10))
    recent: Recent[int] = Recent(2, lambda: now[0])
    assert [recent.get("a", lambda: next(found)) for _ in range(3)] == [0, 0, 0]
    assert recent.get("b", lambda: next(found)) == 1
    now[0] = 2.0
    assert recent.get("a", lambda: next(found)) == 2


def test_a_failure_is_not_kept() -> None:
    recent: Recent[int] = Recent(2)
    with pytest.raises(ZeroDivisionError):
        recent.get("a", lambda: 1 // 0)
    assert recent.get("a", lambda: 5) == 5

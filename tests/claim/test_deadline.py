"""A budget of time interrupts what runs, as Ctrl-C would."""

import signal
import threading

import pytest

from mlmodelscope.claim.deadline import BudgetSpent, Deadline, duration_s
from mlmodelscope.errors import UsageError


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("30m", 1800), ("2h", 7200), ("1.5d", 129_600), ("5 min", 300)]
)
def test_durations_have_units(text, seconds):
    assert duration_s(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "2", "h", "-1h", "0s", "nan", "1e9h", "99999999d", "2h30m", "9" * 500 + "s", "१h"]
)
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(UsageError, match="--budget"):
        duration_s(text)


def test_what_runs_when_the_budget_is_spent_is_interrupted():
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(BudgetSpent), Deadline(0.05).interrupting():
        threading.Event().wait(300)
    assert signal.getsignal(signal.SIGALRM) == before and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_without_a_budget_nothing_is_interrupted():
    deadline = Deadline(None)
    with deadline.interrupting():
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert not deadline.is_over and deadline.left_s is None


def test_a_thread_that_cannot_be_interrupted_runs_on():
    done = []

    def work():
        with Deadline(1e-6).interrupting():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]

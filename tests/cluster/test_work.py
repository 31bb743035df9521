"""What an agent is told to do: every kind has its function, and what it does not know it refuses."""

from typing import get_args

import pytest

from mlmodelscope.cluster.work import DOING, do
from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.arguments import ARGUMENTS
from mlmodelscope.ledger.request import Kind, Work
from mlmodelscope.settings import Settings
from mlmodelscope.watcher import Watcher


def test_every_kind_that_can_be_asked_for_can_be_done_and_has_its_arguments() -> None:
    assert set(get_args(Kind)) == set(ARGUMENTS) == set(DOING) - {"shard"}


def test_work_of_a_newer_server_is_refused_with_a_way_out(settings: Settings) -> None:
    newer = Work.model_construct(kind="distill", model="name: toy")
    with pytest.raises(UsageError, match="does not know the work `distill`") as refusal:
        do(newer, settings, Watcher())
    assert refusal.value.hint == "upgrade mlmodelscope there"

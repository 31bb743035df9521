"""An agent runs other people's code when its own operator said so; a server's word alone does not do."""

import pytest

from mlmodelscope.cluster.child import limits_of
from mlmodelscope.cluster.work import do
from mlmodelscope.errors import TrustError
from mlmodelscope.ledger.request import Work
from mlmodelscope.provision.stack.walls import CONFINED
from mlmodelscope.settings import Settings
from mlmodelscope.watcher import Watcher

MODEL = "name: toy\nversion: 1.0.0\ntask: general\nrun: |\n  def run(ctx, data):\n    open('marker', 'w')\n"
DATASET = "name: files\nversion: 1.0.0\ntask: general\nformat: files\nsources: [{url: 'https://example.org/x.txt'}]\n"


def test_work_that_a_server_trusts_is_not_trusted_by_every_agent(settings: Settings) -> None:
    work = Work(kind="evaluate", model=MODEL, dataset=DATASET, trust=True)
    assert work.trusted_by(operator=True) is work
    with pytest.raises(TrustError, match="code that is not trusted"):
        do(work.trusted_by(operator=False), settings, Watcher())


@pytest.mark.parametrize(
    ("public_only", "trust", "confined"), [(True, False, "1"), (True, True, "0"), (False, False, "0")]
)
def test_what_strangers_send_is_closed_off_unless_it_is_trusted(
    settings: Settings, public_only: bool, trust: bool, confined: str
) -> None:
    work = Work(kind="evaluate", model=MODEL, dataset=DATASET, trust=trust, public_only=public_only)
    assert limits_of(work, settings, None)[CONFINED] == confined

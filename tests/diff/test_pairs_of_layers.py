"""Layers are paired rightly whatever a network's layers are called, and however they are split, fused or turned."""

import pytest
from diff_networks import NETWORKS
from diff_pairing import EARLY, judged_pairing
from diff_variants import WAYS

pytest.importorskip("onnxruntime")
LEAST, LEAST_BEHIND_A_FAULT = 0.95, 0.9


@pytest.mark.parametrize("network", list(NETWORKS))
def test_nearly_all_layers_are_paired_rightly(network: str) -> None:
    judged = [judged_pairing(network, way) for way in WAYS]
    right, count = sum(each.right for each in judged), sum(each.count for each in judged)
    assert right >= LEAST * count, [each.wrong for each in judged]


@pytest.mark.parametrize("network", list(NETWORKS))
@pytest.mark.parametrize("way", ["other names", "with detours", "another order"])
def test_other_names_and_orders_cost_no_pair(network: str, way: str) -> None:
    found = judged_pairing(network, way)
    assert found.right == found.count, found.wrong


@pytest.mark.parametrize("network", list(NETWORKS))
def test_a_fault_behind_which_all_numbers_differ_leaves_most_layers_paired(network: str) -> None:
    judged = [judged_pairing(network, way, EARLY[network]) for way in WAYS]
    right, count = sum(each.right for each in judged), sum(each.count for each in judged)
    assert right >= LEAST_BEHIND_A_FAULT * count, [each.wrong for each in judged]

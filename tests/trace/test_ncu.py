"""Counters that `ncu` printed of ResNet-50 on an H200, and the kernels that they belong to."""

from pathlib import Path

import pytest

from mlmodelscope.trace import counting, ncu
from mlmodelscope.trace.ncu import Counted, NcuError, add_counters, base_name, join, read_counters, tensor_metrics

PRINTED = (Path(__file__).parent / "fixtures" / "ncu.csv").read_text()
LISTED = """\
Device NVIDIA H200 (GH100)
sm__ops_path_tensor_src_bf16_dst_fp32              Counter
sm__ops_path_tensor_src_fp8                        Counter
sm__ops_path_tensor_src_fp8_sparsity_on            Counter
sm__ops_path_tensor_src_int8                       Counter
"""


def test_kernels_come_in_the_order_of_their_launches_with_what_was_counted() -> None:
    kernels = read_counters(PRINTED)
    assert len(kernels) == 8
    first = kernels[0]
    assert (first.name, first.grid, first.block) == ("implicit_convolve_sgemm", (392, 2, 1), (8, 8, 1))
    assert first.counters == {
        "flops": 2 * 122_028_032 + 802_816 + 2 * 1_103_872,
        "dram_read_bytes": 669_184,
        "dram_write_bytes": 0,
        "occupancy": 0.1778,
    }


def test_operations_of_tensor_cores_count_as_they_are() -> None:
    head = '"Kernel Name","Grid Size","Block Size","sm__ops_path_tensor_src_tf32_dst_fp32.sum",'
    head += '"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"'
    (kernel,) = read_counters(f'{head}\n"","","","",""\n"gemm","(8, 7, 4)","(128, 1, 1)","102,760,448","10"\n')
    assert kernel.counters == {"flops": 102_760_468}


def test_what_could_not_be_counted_is_not_there() -> None:
    head = '"Kernel Name","Grid Size","Block Size","dram__bytes_read.sum"'
    (kernel,) = read_counters(f'{head}\n"","","","byte"\n"gemm","(1, 1, 1)","(1, 1, 1)","n/a"\n')
    assert kernel.counters == {}


def test_each_kind_of_gpu_has_metrics_of_its_own() -> None:
    assert tensor_metrics(LISTED) == ("sm__ops_path_tensor_src_bf16_dst_fp32.sum", "sm__ops_path_tensor_src_fp8.sum")
    assert tensor_metrics("") == ("sm__inst_executed_pipe_tensor.sum",)


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("sm80_xmma_fprop", "sm80_xmma_fprop"),
        ("void cudnn::nchwToNhwc<float, (cudnnKernelDataType_t)2>(cudnn::params<float>, float*)", "nchwToNhwc"),
        ("void at::native::(anonymous namespace)::max_pool<float, int>(int)", "max_pool"),
        ("void at::<unnamed>::max_pool<float, int>(T2)", "max_pool"),
        ("std::enable_if<!(false), void>::type internal::gemvx::kernel<int, a<b<c> > >(d<e>)", "kernel"),
    ],
)
def test_a_kernel_has_one_name_however_tools_spell_it(name: str, base: str) -> None:
    assert base_name(name) == base


def counted(*names: str) -> list[Counted]:
    return [Counted(name, (1,), (2,), {"flops": place}) for place, name in enumerate(names)]


def test_kernels_are_joined_by_order_and_name() -> None:
    kernels = [("void f<int>(int)", (1,), (2,)), ("g", (1,), (2,)), ("g", (1,), (2,))]
    assert join(kernels, counted("f", "g", "g")) == {0: {"flops": 0}, 1: {"flops": 1}, 2: {"flops": 2}}
    assert join(kernels, counted("f", "h", "g", "g")) == {0: {"flops": 0}, 1: {"flops": 2}, 2: {"flops": 3}}
    assert join(kernels, counted("g", "g")) == {1: {"flops": 0}, 2: {"flops": 1}}


def test_another_grid_is_another_kernel_unless_nobody_told_it() -> None:
    assert join([("f", (9,), (2,))], counted("f")) == {}
    assert join([("f", (), ())], counted("f")) == {0: {"flops": 0}}


def run_with(*kernels: str) -> dict:
    spans = [["application", "application", 0, 9, None, {}], ["batch", "application", 0, 9, 0, {}]]
    spans.append(["run", "model", 0, 9, 1, {}])
    for place, name in enumerate(kernels):
        said = {"kind": "kernel", "grid": [1], "block": [2], "correlation": 100 - place}
        spans.append([name, "library", place, place + 1, 2, said])
    return {"level": "library", "spans": spans}


def test_counters_are_written_into_kernels_in_the_order_of_their_launches() -> None:
    run = run_with("last", "first")
    assert add_counters(run, counted("first", "last")) is None
    assert [span[5].get("flops") for span in run["spans"][3:]] == [1, 0]


def test_kernels_that_do_not_fit_are_said() -> None:
    assert add_counters(run_with("a"), counted("b")) is not None
    said = add_counters(run_with("b", "a"), counted("a"))
    assert said is not None and said.startswith("1 of 2 kernels of a run have no counters: ncu counted 1")
    assert "no kernels" in (add_counters(run_with(), counted("a")) or "")


def test_why_nothing_was_counted_is_said_with_a_remedy() -> None:
    with pytest.raises(NcuError, match="NVreg_RestrictProfilingToAdminUsers=0"):
        read_counters("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n")
    with pytest.raises(NcuError, match="Failed to find metric"):
        read_counters("==PROF== Connected\n==ERROR== Failed to find metric x\n")


def test_without_ncu_a_note_says_where_it_comes_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(ncu, "USUAL_PLACES", (str(tmp_path / "*" / "ncu"),))
    (note,) = counting.count_kernels(None, None, (), [run_with("a")])  # type: ignore[arg-type]
    assert note.startswith("hardware: a GPU's counters need NVIDIA's Nsight Compute (ncu)")
    (tmp_path / "2025.3").mkdir()
    (tmp_path / "2025.3" / "ncu").touch()
    assert ncu.find_ncu() == tmp_path / "2025.3" / "ncu"


def test_where_no_kernels_were_seen_nothing_is_counted() -> None:
    (note,) = counting.count_kernels(None, None, (), [run_with()])  # type: ignore[arg-type]
    assert "tells of no kernels" in note


def test_clocks_are_left_alone_and_only_one_call_is_counted() -> None:
    command = ncu.around(Path("/x/ncu"), ("a.sum", "b.sum"), Path("/y/log"))
    assert {"--clock-control=none", "--profile-from-start=off", "--metrics=a.sum,b.sum"} <= set(command)

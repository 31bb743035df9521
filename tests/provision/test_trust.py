"""Other people's code runs when the user said so, and no other code does."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope import Settings
from mlmodelscope.errors import StoreError, TrustError, UsageError
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import Manifest
from mlmodelscope.manifest.trust import code_digest, code_of
from mlmodelscope.provision.trust import Trusted, is_digest, require_trust

MODEL: dict[str, Any] = {
    "name": "toy",
    "version": "1.0.0",
    "task": "general",
    "run": "def run(ctx, data):\n    return 1\n",
    "postprocess": "def postprocess(ctx, data):\n    return [data]\n",
}
DATASET: dict[str, Any] = {
    "name": "numbers",
    "version": "1.0.0",
    "format": "functions",
    "init": "def init(n):\n    return 3\n",
}
HARDWARE: dict[str, Any] = {"kind": "hardware", "name": "here", "version": "1.0.0", "setup": "echo hello", "cpu": {}}


def manifest(content: dict[str, Any], **changes: Any) -> Manifest:
    return load_manifest({**content, **changes})


def digest(content: dict[str, Any], **changes: Any) -> str:
    found = code_digest(manifest(content, **changes))
    assert found is not None
    return found


@pytest.mark.parametrize("content", [MODEL, DATASET, HARDWARE])
def test_code_is_refused_until_it_is_trusted(settings: Settings, content: dict[str, Any]) -> None:
    carried = manifest(content)
    with pytest.raises(TrustError, match="code that is not trusted"):
        require_trust([carried], settings)
    require_trust([carried], settings, trust=True)
    Trusted(settings).add(digest(content), "mine")
    require_trust([carried, None], settings)


def test_every_manifest_must_be_trusted(settings: Settings) -> None:
    Trusted(settings).add(digest(MODEL), "mine")
    with pytest.raises(TrustError, match=r"numbers@1.0.0 carries Python code that is not trusted: init\n"):
        require_trust([manifest(MODEL), manifest(DATASET), manifest(HARDWARE)], settings)


def test_one_letter_of_code_counts_and_nothing_else_does() -> None:
    plain = digest(MODEL)
    assert digest(MODEL, run=MODEL["run"].replace("1", "2")) != plain
    assert digest(MODEL, run=MODEL["run"] + " ") != plain
    assert digest(MODEL, setup="import os") != plain
    assert digest(MODEL, run={"code": MODEL["run"]}) == plain
    assert digest(MODEL, name="other", description="better", hyperparameters={"a": 1}) == plain


def test_code_moved_to_another_stage_is_other_code() -> None:
    both = "def run(ctx, data):\n    return 1\ndef preprocess(ctx, data):\n    return 2\n"
    assert digest(MODEL, run=both) != digest(MODEL, preprocess=both)


def test_a_manifest_without_code_needs_no_trust(settings: Settings) -> None:
    settings.home.mkdir(parents=True)
    (settings.home / "trusted.json").write_text("broken")  # not even looked at
    plain = {"name": "d", "version": "1.0.0", "format": "files", "sources": [{"url": "/x"}]}
    require_trust([manifest(plain), None, manifest(HARDWARE, setup=None)], settings)


LOADING = ("LD_PRELOAD", "ld_preload", "PYTHONSTARTUP", "PYTHONHOME", "CUDA_INJECTION64_PATH")
REACHING = (
    "OPENCV_OPENCL_RUNTIME",
    "MXNET_LIBRARY_PATH",
    "TF_XLA_FLAGS",
    "OMP_TOOL_LIBRARIES",
    "BASH_ENV",
    "NOBODY_KNOWS",
)


@pytest.mark.parametrize("name", [*LOADING, *REACHING])
def test_a_variable_that_loads_code_is_code(settings: Settings, name: str) -> None:
    software = {
        "kind": "software",
        "name": "s",
        "version": "1.0.0",
        "framework": {"name": "fake"},
        "env": {name: "/evil"},
    }
    with pytest.raises(TrustError, match="s@1.0.0 carries environment code that is not trusted: env"):
        require_trust([manifest(software)], settings)
    assert digest(MODEL, envvars={name: "/evil"}) not in (digest(MODEL), digest(MODEL, envvars={name: "/other"}))


def test_switches_of_libraries_are_none() -> None:
    harmless = {"TF_ENABLE_WINOGRAD_NONFUSED": "0", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    assert digest(MODEL, envvars=harmless) == digest(MODEL)


@pytest.mark.parametrize("value", ["/lib/evil.so", "--dump=x", "a b", "$(id)", "x\ny", "1" * 101])
def test_a_switch_whose_value_is_more_than_a_word_is_code(value: str) -> None:
    assert digest(MODEL, envvars={"OMP_NUM_THREADS": value}) != digest(MODEL)


def test_the_refusal_says_where_the_code_is_and_what_to_do(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "my model.yml"
    code = "run: |\n  def run(ctx, data):\n    return 1\npostprocess: |\n  def postprocess(ctx, data): return []\n"
    file.write_text(f"name: toy\nversion: 1.0.0\ntask: general\n{code}")
    with pytest.raises(TrustError) as caught:
        require_trust([load_manifest(file)], settings)
    assert "run (my model.yml:5), postprocess (my model.yml:8)" in caught.value.message
    assert f"mlmodelscope trust '{file}'" in caught.value.message


def test_code_without_a_file_is_trusted_by_its_digest(settings: Settings) -> None:
    with pytest.raises(TrustError) as caught:
        require_trust([manifest(MODEL)], settings)
    assert caught.value.message.endswith(f"mlmodelscope trust {digest(MODEL)}")
    assert "<mapping>" not in caught.value.message and is_digest(digest(MODEL))


@pytest.mark.parametrize("content", ["", "{", "[]", '{"a": 1}', "[" * 100_000, "\xff"])
def test_a_broken_list_of_trust_is_named_and_trusts_nothing(settings: Settings, content: str) -> None:
    settings.home.mkdir(parents=True)
    (settings.home / "trusted.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(StoreError, match="trusted.json"):
        require_trust([manifest(MODEL)], settings)
    with pytest.raises(StoreError, match="trusted.json"):
        Trusted(settings).add("a" * 64, "mine")


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    trusted = Trusted(Settings(home=tmp_path / "file" / "home", cache=tmp_path))
    with pytest.raises(StoreError, match="cannot (read|write) .*trusted.json"):
        trusted.add("a" * 64, "mine")


def test_trust_is_taken_back_by_the_beginning_of_a_digest(settings: Settings) -> None:
    trusted = Trusted(settings)
    for start in ("ab", "ac"):
        trusted.add(start * 32, start)
    with pytest.raises(UsageError, match="more than one trusted digest begins with a"):
        trusted.remove("a")
    with pytest.raises(UsageError, match="no trusted digest begins with ff"):
        trusted.remove("ff")
    assert trusted.remove("sha256:ab") == "ab" * 32 and list(trusted.read()) == ["ac" * 32]
    assert (settings.home / "trusted.json").stat().st_mode & 0o777 == 0o600


def test_nothing_is_lost_when_two_trust_at_once(settings: Settings) -> None:
    digests = [f"{number:064x}" for number in range(24)]
    threads = [threading.Thread(target=Trusted(settings).add, args=(each, "x")) for each in digests]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(json.loads((settings.home / "trusted.json").read_text())) == digests


def test_the_code_of_every_kind_of_manifest_is_found() -> None:
    assert [each.stage for each in code_of(manifest(MODEL, setup="x = 1"))] == ["setup", "run", "postprocess"]
    assert [(each.stage, each.language) for each in code_of(manifest(HARDWARE))] == [("setup", "shell")]

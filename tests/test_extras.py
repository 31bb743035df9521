"""What an optional part needs is named as a command that can be typed."""

from importlib.metadata import PackageNotFoundError, metadata

import pytest

from mlmodelscope import extras
from mlmodelscope.extras import install_extra


@pytest.mark.parametrize("extra", sorted(set(metadata("mlmodelscope").get_all("Provides-Extra") or ()) - {"dev"}))
def test_every_extra_names_packages_of_others(extra: str) -> None:
    found = install_extra(extra)
    assert found.startswith("pip install '") and "mlmodelscope" not in found


def test_only_what_is_missing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "_is_installed", lambda name: name != "httpx")
    assert install_extra("hub").startswith("pip install 'httpx>=") and "cryptography" not in install_extra("hub")


def test_a_folder_of_sources_is_installed_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.requires", nothing)
    assert install_extra("server") == "pip install '.[server]' in a clone of mlmodelscope"

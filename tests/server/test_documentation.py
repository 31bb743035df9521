"""The documentation is given out under /docs/; names are looked up and never made into paths."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the server's packages are not installed")

from mlmodelscope.server.rest.documentation import Documentation  # noqa: E402


@pytest.fixture
def built(tmp_path: Path) -> Documentation:
    site = tmp_path / "docs"
    (site / "replicate").mkdir(parents=True)
    (site / "index.html").write_text("home")
    (site / "replicate" / "index.html").write_text("verdicts")
    (site / "404.html").write_text("not here")
    (tmp_path / "secret.txt").write_text("secret")
    return Documentation(site)


def body(answer: object) -> str:
    path = getattr(answer, "path", None)
    return Path(path).read_text() if path is not None else bytes(answer.body).decode()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("path", "text"), [("/docs/", "home"), ("/docs/replicate/", "verdicts")])
def test_a_folder_shows_its_page(built: Documentation, path: str, text: str) -> None:
    answer = built.answer(path)
    assert answer.status_code == 200 and body(answer) == text
    assert "default-src 'self'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(("path", "target"), [("/docs", "/docs/"), ("/docs/replicate", "/docs/replicate/")])
def test_a_folder_without_its_slash_is_redirected(built: Documentation, path: str, target: str) -> None:
    answer = built.answer(path)
    assert answer.status_code == 307 and answer.headers["location"] == target


@pytest.mark.parametrize(
    "path", ["/docs/../secret.txt", "/docs/%2e%2e/secret.txt", "/docs//etc/passwd", "/docs/\0", "/docs/no", "/docs///"]
)
def test_what_was_not_built_is_not_there(built: Documentation, path: str) -> None:
    answer = built.answer(path)
    assert answer.status_code == 404 and body(answer) == "not here"


def test_an_installation_without_it_says_how_to_build_it(tmp_path: Path) -> None:
    answer = Documentation(tmp_path / "none").answer("/docs/")
    assert answer.status_code == 404 and "make docs" in body(answer)

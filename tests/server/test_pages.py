"""Pages are given out as they were built; what is no page is the API's."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="the server's packages are not installed")

import httpx  # noqa: E402
from starlette.applications import Starlette  # noqa: E402
from starlette.requests import Request  # noqa: E402
from starlette.responses import PlainTextResponse  # noqa: E402
from starlette.routing import Route  # noqa: E402

from mlmodelscope.server.rest.pages import Pages  # noqa: E402


def _api(request: Request) -> PlainTextResponse:
    return PlainTextResponse("from the API")


class Site:
    def __init__(self, folder: Path) -> None:
        app = Starlette(routes=[Route("/api/v1/health", _api), Route("/metrics", _api), Route("/posted", _api)])
        self._transport = httpx.ASGITransport(app=Pages(app, folder))

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.ask("GET", path, **more)

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        async def asked() -> httpx.Response:
            async with httpx.AsyncClient(transport=self._transport, base_url="http://pages") as client:
                return await client.request(method, path, **more)

        return asyncio.run(asked())


@pytest.fixture
def built(tmp_path: Path) -> Site:
    pages = tmp_path / "pages"
    (pages / "assets").mkdir(parents=True)
    (pages / "index.html").write_text("<!doctype html><title>built</title>" + " " * 500)
    (pages / "assets" / "main-1a2b.js").write_text("let words = 'said';\n" * 200)
    (tmp_path / "secret.txt").write_text("not for you")
    return Site(pages)


@pytest.mark.parametrize("path", ["/", "/index.html", "/models/a-model", "/records/20260101-000000-abcdef?only=wrong"])
def test_every_address_of_the_pages_is_the_one_page(built: Site, path: str) -> None:
    found = built.get(path)
    assert found.status_code == 200 and "<title>built" in found.text
    assert found.headers["cache-control"] == "no-cache"
    assert "default-src 'self'" in found.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/api/v1/health", "/metrics"])
def test_what_is_the_apis_is_left_to_it(built: Site, path: str) -> None:
    assert built.get(path).text == "from the API"
    assert built.get("/api/v1/nothing").status_code == 404
    assert built.ask("POST", "/posted").status_code == 405


def test_what_has_its_digest_in_its_name_is_kept_for_ever(built: Site) -> None:
    found = built.get("/assets/main-1a2b.js")
    assert "immutable" in found.headers["cache-control"] and found.headers["content-encoding"] == "gzip"
    assert found.headers["content-type"].startswith(("text/javascript", "application/javascript"))
    assert found.text == built.get("/assets/main-1a2b.js", headers={"accept-encoding": "identity"}).text
    again = built.get("/assets/main-1a2b.js", headers={"if-none-match": found.headers["etag"]})
    assert again.status_code == 304 and not again.content


def test_a_part_of_an_older_build_is_gone(built: Site) -> None:
    assert built.get("/assets/main-9z9z.js").status_code == 404


@pytest.mark.parametrize(
    "path", ["/../secret.txt", "/%2e%2e/secret.txt", "/assets/..%2f..%2fsecret.txt", "//secret.txt"]
)
def test_nothing_beside_the_pages_is_given_out(built: Site, path: str) -> None:
    assert "not for you" not in built.get(path).text


def test_without_pages_it_says_how_to_get_them(tmp_path: Path) -> None:
    assert "make web" in Site(tmp_path / "none").get("/models").text

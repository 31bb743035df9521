"""The pages in a real browser, from a real server that has a real model, real pictures and a real database."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy.exc
from playwright.sync_api import expect

from browser import PHONES, opened, sticks_out
from mlmodelscope.server.rest.pages import FOLDER  # noqa: E402
from server.conftest import World  # noqa: E402

PATIENCE_MS = 120_000  # the machine may be busy
expect.set_options(timeout=PATIENCE_MS)
ROOT = Path(__file__).parents[2]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
MODEL, DATASET = "efficientnet-lite0", "imagenet-70"
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


class Site(World):
    """A server whose models are those that come with the program, beside the toys."""

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        self._tokens: dict[tuple[str, ...], str] = {}

    def environment(self, home: str) -> dict[str, str]:
        found = super().environment(home)
        # Downloads are kept where the other tests keep them.
        found.pop("MLMODELSCOPE_CACHE")
        if "MLMODELSCOPE_CACHE" in os.environ:
            found["MLMODELSCOPE_CACHE"] = os.environ["MLMODELSCOPE_CACHE"]
        return found

    def token(self, *scopes: str) -> str:
        """Somebody's, made once."""
        if scopes not in self._tokens:
            flags = [word for scope in scopes for word in ("--scope", scope)]
            self._tokens[scopes] = self.run("token", "make", "--owner", "somebody", *flags)
        return self._tokens[scopes]

    def evaluated(self, model: str = MODEL, dataset: str = DATASET, **more: Any) -> str:
        """The name of a record of it, made by this machine's agent."""
        return self.client().evaluate(model, dataset, **more).id

    def adopted(self, folder: Path) -> str:
        """The name of a record that was made elsewhere; it is brought in once."""
        with contextlib.suppress(sqlalchemy.exc.IntegrityError):
            self.adopt(folder)
        return str(json.loads((folder / "record.json").read_text())["id"])


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    assert (FOLDER / "index.html").exists(), "the pages are not built: `make web`"
    found = Site(tmp_path_factory.mktemp("site"))
    found.serve(trust=True)  # for those whose token says so
    found.client()
    yield found
    found.close()


@pytest.fixture(scope="package")
def record(site: Site) -> str:
    """Seventy real pictures, really classified."""
    return site.evaluated()


@pytest.fixture(scope="package")
def browser(chromium: str | None, wide_font: Path) -> Iterator[Any]:
    """One for all pages."""
    with opened(chromium, wide_font) as found:
        yield found


class Visit:
    """One person's browser at the site; what went wrong in it is kept."""

    def __init__(self, context: Any, url: str) -> None:
        self.context, self.url = context, url
        self.page = context.new_page()
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._heard)
        self.page.on("request", self._asked)
        self.page.set_default_timeout(PATIENCE_MS)

    def _heard(self, message: Any) -> None:
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.errors.append(message.text)

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.url, "data:", "blob:")):
            self.errors.append(f"asked elsewhere: {request.url}")

    def to(self, path: str) -> Any:
        self.page.goto(f"{self.url}{path}")
        self.page.wait_for_load_state("networkidle") if "/evaluations/" not in path else None
        return self.page

    def sign_in(self, site: Site, *scopes: str) -> None:
        """Be somebody who may do just this, from the next page on."""
        token = site.token(*scopes)
        self.context.add_init_script(f"sessionStorage.setItem('mlmodelscope.token', '{token}')")

    def sticks_out(self) -> list[str]:
        """What is too wide for a phone."""
        return sticks_out(self.page, PHONES)

    def violations(self) -> list[str]:
        """What axe finds serious about the page as it is now."""
        # Evaluated, not added as a script: the policy of the pages allows none but their own.
        self.page.evaluate(AXE.read_text())
        found = self.page.evaluate("async () => (await axe.run()).violations")
        return [
            f"{each['id']}: {[node['target'] for node in each['nodes']]}"
            for each in found
            if each["impact"] in ("serious", "critical")
        ]


@contextlib.contextmanager
def visiting(browser: Any, site: Site, **how: Any) -> Iterator[Visit]:
    """Somebody new at a site; nothing may have gone wrong in their browser."""
    context = browser.new_context(**{"viewport": DESKTOP, "reduced_motion": "reduce", **how})
    try:
        found = Visit(context, site.url)
        yield found
        assert not found.errors, found.errors
    finally:
        context.close()


@pytest.fixture
def visit(browser: Any, site: Site) -> Iterator[Visit]:
    with visiting(browser, site) as found:
        yield found

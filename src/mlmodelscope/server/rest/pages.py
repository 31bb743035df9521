"""The pages for a browser, as they were built into this package; they know the server only through its API.

All of them are read when the server starts: what somebody asks for is looked up by name and never opens a file.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mlmodelscope.server.rest.documentation import PREFIX, Documentation

FOLDER = Path(str(resources.files("mlmodelscope.server"))) / "pages"
_NOT_PAGES = ("/api/", "/metrics")
_ASSETS = "/assets/"  # their names change with what is in them
_POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; style-src 'self' 'unsafe-inline'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_NOT_BUILT = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>MLModelScope</title>
<body style="font-family: system-ui; max-width: 40rem; margin: 4rem auto; padding: 0 1rem; line-height: 1.5">
<h1>MLModelScope</h1>
<p>The server works; its pages were not built into this installation. From a clone of the project,
<code>make web</code> builds them; then start the server again.</p>
<p>The <a href="/api/v1/openapi.json">API</a> and the command line (<code>--server</code>) do not need them.</p>
</html>"""


@dataclass(frozen=True)
class _Page:
    body: bytes
    compressed: bytes | None
    """None where compressing it would not help."""
    media_type: str
    tag: str


class Pages:
    """In front of the API: what is no question to it is a page, or the one page that finds its way by the address."""

    def __init__(self, app: ASGIApp, folder: Path = FOLDER) -> None:
        self._app = app
        self._pages = _read(folder)
        self._documentation = Documentation()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or path.startswith(_NOT_PAGES):
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        is_documentation = f"{path}/".startswith(PREFIX)
        answer = self._documentation.answer(path) if is_documentation else self._answer(request, path)
        await answer(scope, receive, send)

    def _answer(self, request: Request, path: str) -> Response:
        page = self._pages.get(path)
        is_asset = path.startswith(_ASSETS)
        if page is None and is_asset:  # of an older build: the page that asks for it must be loaded again
            return Response("there is no such file", 404, media_type="text/plain")
        page = page or self._pages.get("/index.html")
        if page is None:
            return HTMLResponse(_NOT_BUILT, headers={"Content-Security-Policy": _POLICY})
        headers = {
            "Content-Security-Policy": _POLICY,
            "Cache-Control": "public, max-age=31536000, immutable" if is_asset else "no-cache",
            "ETag": page.tag,
            "Vary": "Accept-Encoding",
        }
        if page.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        if page.compressed is not None and "gzip" in request.headers.get("accept-encoding", ""):
            return Response(
                page.compressed, headers={**headers, "Content-Encoding": "gzip"}, media_type=page.media_type
            )
        return Response(page.body, headers=headers, media_type=page.media_type)


def _read(folder: Path) -> dict[str, _Page]:
    files = sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
    return {f"/{path.relative_to(folder).as_posix()}": _page(path) for path in files}


def _page(path: Path) -> _Page:
    body = path.read_bytes()
    packed = gzip.compress(body, 9, mtime=0)
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    return _Page(body, packed if len(packed) < 0.9 * len(body) else None, kind, tag)

"""The documentation under /docs/, as `make docs` built it into this package.

What there is is known when the server starts; a name that somebody asks for is looked up and never made into a path.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response

FOLDER = Path(str(resources.files("mlmodelscope.server"))) / "docs"
PREFIX = "/docs/"
# The theme has scripts within its pages. All of them are ours; nothing that anybody sends is shown here.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "worker-src 'self' blob:; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
)
_NOT_BUILT = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>MLModelScope: documentation</title>
<body style="font-family: system-ui; max-width: 40rem; margin: 4rem auto; padding: 0 1rem; line-height: 1.5">
<h1>Documentation</h1>
<p>The documentation was not built into this installation. In a clone of the project, <code>make docs</code> builds it;
then start the server again. The folder <code>docs</code> has the same pages as text.</p>
<p><a href="/">Back to the application</a></p>
</html>"""


class Documentation:
    def __init__(self, folder: Path = FOLDER) -> None:
        found = sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
        self._files = {f"{PREFIX}{path.relative_to(folder).as_posix()}": path for path in found}

    def answer(self, path: str) -> Response:
        headers = {"Content-Security-Policy": _POLICY, "Cache-Control": "no-cache"}
        if not self._files:
            return HTMLResponse(_NOT_BUILT, 404, headers=headers)
        found = self._files.get(path) or self._files.get(f"{path}index.html")
        if found is None and f"{path}/index.html" in self._files:
            return RedirectResponse(f"{path}/", headers=headers)
        if found is None:
            missing = self._files.get(f"{PREFIX}404.html")
            body = missing.read_text(encoding="utf-8") if missing is not None else "there is no such page"
            return HTMLResponse(body, 404, headers=headers)
        return FileResponse(found, headers=headers)

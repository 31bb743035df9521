"""Write docs/reference/openapi.json, from which clients are made; a test compares it with what the server says."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from mlmodelscope.server.config import Config
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.rest.app import make_app
from mlmodelscope.settings import Settings

DOCUMENT = Path(__file__).parent.parent / "docs" / "reference" / "openapi.json"


def text() -> str:
    with tempfile.TemporaryDirectory() as place:
        desk = Desk(Settings(Path(place), Path(place)), Config())
        try:
            document = make_app(desk, agent=False).openapi()
        finally:
            desk.close()
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    DOCUMENT.write_text(text(), encoding="utf-8")
    print(DOCUMENT)

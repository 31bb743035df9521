"""Files added after the record was kept, such as findings about another claim: they never replace others."""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
from pathlib import Path

from mlmodelscope.errors import StoreError, UsageError
from mlmodelscope.record.packed import opened, safe_path
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store

_WHAT = "bundle of a record"


def take_in_folders(
    store: Store, record: Record, bundle: Path, place: str, name: re.Pattern[str], largest: int = 8 << 30
) -> None:
    """Of a bundle whose record is known: the folders of a place that are not there yet."""
    with opened(bundle, largest, _WHAT) as packed:
        folders: dict[str, list[zipfile.ZipInfo]] = {}
        for entry in packed.infolist():
            path = safe_path(entry.filename.rstrip("/"), _WHAT)
            inside = path.relative_to(place).parts if path.is_relative_to(place) else ()
            if len(inside) == 2 and name.fullmatch(inside[0]) and not entry.is_dir():
                folders.setdefault(inside[0], []).append(entry)
        for key, entries in folders.items():
            destination = store.folder(record.id) / place / key
            if not destination.exists():
                _unpack(packed, entries, destination, store.folder(record.id))


def _unpack(packed: zipfile.ZipFile, entries: list[zipfile.ZipInfo], destination: Path, beside: Path) -> None:
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix="draft-", dir=beside))
        try:
            for entry in entries:
                with packed.open(entry) as source, (draft / Path(entry.filename).name).open("xb") as target:
                    shutil.copyfileobj(source, target)  # a zip file never gives more than it announced, or it fails
            draft.rename(destination)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    except FileExistsError:
        raise UsageError("the bundle has two files of the same name") from None
    except OSError as error:
        if destination.exists():  # the same came twice at the same moment
            return
        raise StoreError(f"cannot keep files of a record: {error.strerror}") from None

"""Files that a manifest includes: mappings of the same folder, whose keys count where its own do not speak.

Only files in the manifest's own folder, or below it, are read; a path that climbs, a link that leads away and a circle
are refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

from mlmodelscope.errors import ManifestError, Problem
from mlmodelscope.manifest.source import Place, SourceList, SourceMap, parse_source, read_bytes

KEY = "include"
_MOST = 32


def with_included(data: SourceMap, folder: Path | None, file: str) -> SourceMap:
    """A mapping together with those that it includes, and those that they include."""
    return _Reader(folder, file).whole(data, folder, ()) if KEY in data else data


class _Reader:
    def __init__(self, root: Path | None, file: str) -> None:
        self._root = root.resolve() if root is not None else None
        self._file = file
        self._count = 0

    def whole(self, data: SourceMap, folder: Path | None, above: tuple[Path, ...]) -> SourceMap:
        if KEY not in data:
            return data
        place = data.places[KEY]
        names = data[KEY]
        for key in (KEY, "task_list"):
            if key == KEY or above:
                data.pop(key, None)
                data.places.pop(key, None)
                data.spans.pop(key, None)
        merged = SourceMap()
        merged.place = data.place
        for name in names if isinstance(names, SourceList) else [names]:
            for key, value in self._read(name, folder, above, place).items():
                merged.put(key, _placed(value, place), place)
        for key in list(data):
            data.move(key, merged)
        return merged

    def _read(self, name: Any, folder: Path | None, above: tuple[Path, ...], place: Place) -> SourceMap:
        path = self._found(name, folder, place)
        self._count += 1
        if path in above or self._count > _MOST:
            self._refuse(f"`{name[:80]}` includes itself in the end, or more than {_MOST} files", place)
        try:
            data = parse_source(read_bytes(path), str(path), functions=True)
        except ManifestError as error:
            told = error.problems[0]
            self._refuse(f"the included file cannot be read: {told.message}  ({told.place})", place)
        return self.whole(data, path.parent, (*above, path))

    def _found(self, name: Any, folder: Path | None, place: Place) -> Path:
        if not isinstance(name, str) or not name or "\0" in name:
            self._refuse("expected the name of a file in the same folder", place)
        if Path(name).is_absolute() or ".." in Path(name).parts:
            self._refuse(f"`{name[:80]}` lies outside of the manifest's folder, where nothing is read", place)
        if folder is None or self._root is None:
            self._refuse(f"`{name[:80]}` is a file beside this one, and only this text is known here", place)
        try:
            path = (folder / name).resolve()
        except (OSError, RuntimeError):
            self._refuse(f"`{name[:80]}` cannot be read", place)
        if not path.is_relative_to(self._root):
            self._refuse(f"`{name[:80]}` leads outside of the manifest's folder, where nothing is read", place)
        return path

    def _refuse(self, message: str, place: Place) -> NoReturn:
        raise ManifestError(Problem(message, KEY, self._file, place[0], place[1]))


def _placed(value: Any, place: Place) -> Any:
    """The same value as if it stood where its file is included: its own lines are those of another file."""
    if isinstance(value, SourceMap):
        made = SourceMap()
        made.place = place
        for key, each in value.items():
            made.put(key, _placed(each, place), place)
        return made
    if isinstance(value, SourceList):
        items = SourceList()
        items.place = place
        for each in value:
            items.put(_placed(each, place), place)
        return items
    return value

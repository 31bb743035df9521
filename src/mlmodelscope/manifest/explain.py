"""pydantic's findings, in words for a tired person and with their place in the file."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from mlmodelscope.errors import Problem
from mlmodelscope.manifest.source import SourceMap, place_of, spell_path
from mlmodelscope.manifest.suggest import nearest
from mlmodelscope_worker.parameters import spell

DataPath = tuple[str | int, ...]

_MOST = 100  # nobody reads more, and a hostile file may have a hundred thousand

_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "tuple_type": "a list",
}


def explain(error: ValidationError, schema: type[BaseModel], data: SourceMap) -> list[Problem]:
    """One problem for each place; of a union's branches the first that says something is kept."""
    found: dict[tuple[DataPath, str], Problem] = {}
    for item in error.errors(include_url=False):
        path = _path_in(data, item["loc"])
        about = str(item["loc"][-1]) if item["type"] == "missing" else ""
        if item["type"] == "missing":
            path = path[:-1]
        if item["type"] == "too_short" and any(other[: len(path)] == path for other, _ in found):
            continue  # the items were refused one by one: that the list is now too short says nothing
        line, column = place_of(data, path)
        found.setdefault((path, about), _describe(item, path, schema, spell_path(path), line, column))
    problems = list(found.values())
    if len(problems) > _MOST:
        rest = Problem(f"and {len(problems) - _MOST} more like these")
        problems = [*problems[:_MOST], rest]
    return problems


def _cut(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 100 else text[:97] + "..."


def _describe(item: Any, path: DataPath, schema: type[BaseModel], where: str, line: int, column: int) -> Problem:
    kind, seen = item["type"], item["input"]
    known: tuple[str, ...] = ()
    hint = None
    if kind == "extra_forbidden":
        known = tuple(sorted(_fields_at(schema, path[:-1])))
        hint = nearest(_cut(path[-1]), known)
        message = f"unknown key `{_cut(path[-1])}`"
    elif kind == "missing":
        message = f"the key `{item['loc'][-1]}` is missing"
    elif kind in ("literal_error", "unknown_name"):
        known = tuple(_literals_at(schema, path) if kind == "literal_error" else item["ctx"]["known"])
        hint = nearest(_cut(seen), known)
        message = f"`{_cut(seen)}` is not one of the known values"
    elif kind == "value_error":
        message = str(item["ctx"]["error"])
    else:
        expected = _EXPECTED.get(kind) or item["msg"].removeprefix("Input should be ")
        message = f"expected {expected}, saw {spell(seen)}"
    return Problem(message, where, "", line, column, known, hint)


def _path_in(data: Any, location: DataPath) -> DataPath:
    """pydantic's location without the names of union branches, which are not in the data."""
    path: list[str | int] = []
    for index, part in enumerate(location):
        inside_list = isinstance(data, list) and isinstance(part, int) and part < len(data)
        if inside_list or (isinstance(data, dict) and part in data):
            data = data[part]
            path.append(part)
        elif index == len(location) - 1 and isinstance(data, dict):
            path.append(part)
    return tuple(path)


def _model_at(schema: type[BaseModel], path: DataPath) -> type[BaseModel] | None:
    found: type[BaseModel] | None = schema
    for part in path:
        if isinstance(part, str) and found is not None and part in found.model_fields:
            found = next(iter(_models_in(found.model_fields[part].annotation)), None)
    return found


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in _models_in(inner)]


def _fields_at(schema: type[BaseModel], path: DataPath) -> list[str]:
    model = _model_at(schema, path)
    return list(model.model_fields) if model else []


def _literals_at(schema: type[BaseModel], path: DataPath) -> list[str]:
    """Of a field, or of the values of a mapping that is one."""
    for length in (1, 2):
        model = _model_at(schema, path[:-length])
        field = model.model_fields.get(str(path[-length])) if model and len(path) >= length else None
        if field:
            return _words_in(field.annotation)
    return []


def _words_in(annotation: Any) -> list[str]:
    if isinstance(annotation, str):
        return [annotation]
    return [word for inner in get_args(annotation) for word in _words_in(inner)]

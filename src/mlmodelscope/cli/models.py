"""`models`: which models are there?"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlmodelscope.cli.server_choice import remote
from mlmodelscope.cli.terminal import AsJson, print_facts, print_json, print_table, settings, verb
from mlmodelscope.errors import UsageError

if TYPE_CHECKING:
    from mlmodelscope.catalog.manifest_rows import ManifestRow
    from mlmodelscope.catalog.search import Page, Query, Row

_SCALES = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9, "G": 10**9}
_PANEL = "Filters"


def _filter(flag: str, text: str, metavar: str | None = None) -> Any:
    return typer.Option(flag, help=text, metavar=metavar, rich_help_panel=_PANEL)


@verb
def models(
    name: Annotated[
        str | None, typer.Argument(help="Show this one in full: a name, or SOURCE:NAME of a catalog source.")
    ] = None,
    text: Annotated[str | None, _filter("--search", "Words in name, task, architecture, license or claims.")] = None,
    source: Annotated[str | None, _filter("--source", "Only models of this source; see `catalog list`.")] = None,
    task: Annotated[str | None, _filter("--task", "Only models of this task.")] = None,
    architecture: Annotated[str | None, _filter("--architecture", "A part of the architecture's name.")] = None,
    license_: Annotated[str | None, _filter("--license", "A part of the license's name, that of the weights.")] = None,
    least: Annotated[str | None, _filter("--min-parameters", "At least so many, such as 5M.")] = None,
    most: Annotated[str | None, _filter("--max-parameters", "At most so many, such as 30M.")] = None,
    metric: Annotated[str | None, _filter("--metric", "Only models with a claim of this metric.")] = None,
    dataset: Annotated[str | None, _filter("--dataset", "Only models with a claim on this dataset.")] = None,
    at_least: Annotated[
        float | None, _filter("--at-least", "The claim's least value; a share in percent, such as 80.")
    ] = None,
    runnable: Annotated[
        bool, typer.Option("--runnable", help="Only models that can run here once fetched.", rich_help_panel=_PANEL)
    ] = False,
    claims: Annotated[bool, typer.Option("--claims", help="List published numbers in place of models.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=0, help="At most so many of the sources'; 0 lists all.")] = 40,
    as_yaml: Annotated[bool, typer.Option("--yaml", help="With a name: print its manifest as written.")] = False,
    as_json: AsJson = False,
) -> None:
    """List and search the models of the catalog, or show one."""
    if as_yaml and (as_json or name is None):
        raise UsageError(
            "--yaml and --json exclude each other" if as_json else "--yaml prints the manifest of one model",
            hint=None if as_json else "mlmodelscope models NAME --yaml",
        )
    if name is not None:
        _show(name, as_yaml, as_json)
        return
    from mlmodelscope.catalog.search import Query, least_share

    query = Query(
        text=text or "",
        source=source,
        task=task,
        architecture=architecture,
        license=license_,
        min_parameters=_count("--min-parameters", least),
        max_parameters=_count("--max-parameters", most),
        metric=metric,
        dataset=dataset,
        at_least=least_share(metric, at_least),
        runnable=True if runnable else None,
        limit=limit,
    )
    is_filtered = query != Query(limit=limit)
    if remote() is not None or (as_json and not is_filtered and not claims):
        _list_manifests(as_json, is_filtered or claims)
    elif claims:
        _list_claims(query, as_json)
    else:
        _list(query, is_filtered, as_json)


def _show(name: str, as_yaml: bool, as_json: bool) -> None:
    from mlmodelscope.manifest.catalog import find_model
    from mlmodelscope.manifest.schema import ModelManifest

    there = remote()
    manifest = find_model(name) if there is None else there.shelf.find(ModelManifest, name)
    if as_json:
        print_json(manifest.model_dump(mode="json"))
    elif as_yaml:
        from mlmodelscope.cli.manifest_tables import print_written

        print_written(manifest)
    else:
        from mlmodelscope.cli.claims import status_lines
        from mlmodelscope.cli.manifest_summary import model_rows

        print_facts(list(model_rows(manifest, name, settings(True), status_lines(name), is_here=there is None)))
        print(f"\n--yaml prints the manifest, `mlmodelscope show {name}` each value with its origin", file=sys.stderr)


def _list_manifests(as_json: bool, is_filtered: bool) -> None:
    """Whole manifests: those of a server, and what programs have always got."""
    from mlmodelscope.cli.manifest_tables import show_catalogue

    if is_filtered:
        raise UsageError("a server's list has no filters here", hint="its page at /models has a search")
    show_catalogue(
        "models",
        ("task", "framework", "claims"),
        lambda manifest: (
            manifest.task,
            f"{manifest.framework.name} {manifest.framework.version}" if manifest.framework else "",
            ", ".join(f"{claim.metric} {claim.value} %" for claim in manifest.claims),
        ),
        as_json,
    )


def _list(query: Query, is_filtered: bool, as_json: bool) -> None:
    from contextlib import closing

    from mlmodelscope.catalog.index import open_index
    from mlmodelscope.catalog.search import search, sources

    own = _manifests(query)
    with closing(open_index(settings(False))) as index:
        page = search(index, query)
        count = len(sources(index))
    if as_json:
        print_json({"manifests": own, "described": [_as_json(row) for row in page.rows], "total": page.total})
        return
    if own:
        titles = ("name", "version", "task", "framework", "claims")
        print_table(titles, [(row.name, row.version, row.task, row.framework, ", ".join(row.claims)) for row in own])
    if page.rows:
        if own:
            print()
        _print_described(page)
    _tell(own, page, count, is_filtered)


def _manifests(query: Query) -> list[ManifestRow]:
    """Manifests of the folders that fit, as far as a manifest can: it says nothing of parameters."""
    from mlmodelscope.catalog.manifest_rows import manifest_rows
    from mlmodelscope.manifest.folders import catalog_files

    beyond = (query.source, query.architecture, query.min_parameters, query.max_parameters, query.dataset)
    if any(each is not None for each in (*beyond, query.at_least)):
        return []
    words = query.text.lower().split()
    found = []
    for row in manifest_rows(settings(False), list(catalog_files("models"))):
        if row.problem:
            print(f"left out: {row.problem}\n", file=sys.stderr)  # one broken file must not hide the others
            continue
        seen = " ".join((row.name, row.task, row.framework, row.license, *row.claims)).lower()
        if (
            all(word in seen for word in words)
            and query.task in (None, row.task)
            and (query.license or "").lower() in row.license.lower()
            and (query.metric is None or any(each.split()[0] == query.metric for each in row.claims))
        ):
            found.append(row)
    return found


def _print_described(page: Page) -> None:
    titles = ("model of a source", "task", "parameters", "license of weights", "runs here", "claims", "first claim")
    rows = [
        (
            *(
                row.reference,
                row.task,
                _short(row.parameters),
                row.license or "unknown",
                "yes" if row.is_runnable else "no",
            ),
            *(str(row.claims), row.headline),
        )
        for row in page.rows
    ]
    print_table(titles, rows, (False, False, True, False, False, True, False))


def _tell(own: list[ManifestRow], page: Page, sources: int, is_filtered: bool) -> None:
    """How many there are, and how to see the others; not among the rows, which programs read."""
    more = page.total - len(page.rows)
    said = f"{len(own)} manifests; {page.total:,} models of {sources} sources"
    if is_filtered:
        said += " fit"
    if more > 0:
        said += f", {more:,} of them not shown: --limit 0 lists all, --search WORDS finds some"
    print(said, file=sys.stderr)


def _as_json(row: Row) -> dict[str, Any]:
    from dataclasses import asdict

    return {"reference": row.reference, **asdict(row)}


def _list_claims(query: Query, as_json: bool) -> None:
    from contextlib import closing
    from dataclasses import asdict

    from mlmodelscope.catalog.index import open_index
    from mlmodelscope.catalog.search import claims
    from mlmodelscope.claim.status import standing_of, standings
    from mlmodelscope.record.checks import checks_at

    with closing(open_index(settings(False))) as index:
        rows, total = claims(index, query)
    known = standings(checks_at(settings(False)))
    if as_json:
        found = [{**asdict(row), "status": standing_of(row.key, known).status} for row in rows]
        print_json({"claims": found, "total": total})
        return
    signs = {"percent": " %", "dB": " dB"}
    lines = [
        (
            *(row.reference, row.metric, row.value + signs.get(row.unit, ""), row.dataset),
            *(standing_of(row.key, known).status, row.conditions),
        )
        for row in rows
    ]
    titles = ("model", "metric", "value", "dataset", "status", "conditions")
    print_table(titles, lines, (False, False, True, False, False, False))
    print(f"{total:,} published numbers fit, {len(rows):,} shown", file=sys.stderr)


def _count(flag: str, text: str | None) -> int | None:
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,12}(?:\.\d{1,6})?)([KMBG]?)", text.strip().upper())
    if found is None:
        raise UsageError(f"{flag} is `{text[:40]}`, which is not a number of parameters", hint="such as 30M")
    return round(float(found[1]) * _SCALES[found[2]])


def _short(number: int | None) -> str:
    if number is None:
        return ""
    for letter in ("B", "M", "K"):
        if number >= _SCALES[letter]:
            return f"{number / _SCALES[letter]:.1f}{letter}"
    return str(number)

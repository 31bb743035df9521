"""CoNLL's columns: a token a line with its tag, sentences parted by empty lines."""

from __future__ import annotations

from collections.abc import Iterator

from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.lines import lines_of
from mlmodelscope.dataset.parts import sample_of
from mlmodelscope.dataset.sample import NamedFile, Unlabelled
from mlmodelscope.dataset.tags import tagged
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset

_MOST_TOKENS = 1_000_000
_BORDERS = ("-DOCSTART-", "# newdoc", "#begin document")


@dataset_format("conll", packed=True, has_targets=True)
def read_conll(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """CoNLL's columns: a token a line with its tag, in BIO, BIOES or IOB1, and an empty line after each sentence."""
    at_token, at_tag = _columns(dataset)
    found = []
    for number, (where, document, rows) in enumerate(_sentences(source, dataset.delimiter)):
        needed, fewest = max(at_token, at_tag, 1) + 1, min(map(len, rows))
        if fewest < needed:
            raise DatasetError(
                f"{where} has a line of {fewest} columns, and token and tag need {needed}",
                hint="say which they are: `columns: {text: 0, target: 3}`; `delimiter` says what parts them",
            )
        text, target = tagged([row[at_token] for row in rows], [row[at_tag] for row in rows], where)
        name = f"{number:05d}" if document is None else f"{document:04d}/{number:05d}"
        found.append(sample_of(name, {"text": {"text": text}}, None, target))
    return found


def _columns(dataset: PlannedDataset) -> tuple[int, int]:
    """(token, tag): the first column and the last one by default."""
    columns = dataset.columns
    token = columns.text if columns is not None and columns.text is not None else 0
    tag = columns.target if columns is not None else None
    if not isinstance(token, int) or not (tag is None or isinstance(tag, int)):
        raise DatasetError(f"columns of {dataset.name} are numbers from 0: its format has no names for them")
    return token, -1 if tag is None else tag


def _sentences(file: NamedFile, delimiter: str | None) -> Iterator[tuple[str, int | None, list[list[str]]]]:
    """(where it begins, the number of its document where documents are marked, its lines as columns)."""
    rows: list[list[str]] = []
    document: int | None = None
    start = 0
    for number, line in lines_of(file):
        is_border = line.startswith(_BORDERS)
        if not line.strip() or is_border:
            if rows:
                yield f"the sentence at line {start} of {file.name}", document, rows
                rows = []
            if is_border:
                document = 0 if document is None else document + 1
            continue
        if line.startswith("# ") and not rows:  # a comment of CoNLL-U
            continue
        start = start if rows else number
        rows.append(line.split(delimiter))
        if len(rows) > _MOST_TOKENS:
            raise DatasetError(f"the sentence at line {start} of {file.name} has more than {_MOST_TOKENS:,} tokens")
    if rows:
        yield f"the sentence at line {start} of {file.name}", document, rows

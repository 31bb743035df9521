"""Every value of a resolved manifest knows its line, its dialect's reason, or that it is a default."""

from pathlib import Path

from mlmodelscope.manifest.load import load_manifest, parse_document, parse_manifest
from mlmodelscope.manifest.provenance import resolve
from mlmodelscope.manifest.source import spell_path
from mlmodelscope.manifest.write import write_manifest

LISTING = (Path(__file__).parent / "listing1.yml").read_text()


def origins(text: str) -> dict[str, str]:
    return {spell_path(path): origin for path, origin in resolve(parse_document(text))[2].items()}


def test_lines_defaults_and_nothing_else_in_todays_form() -> None:
    found = origins(LISTING)
    assert (found["name"], found["job_type"], found["framework.version"]) == ("line 1", "default", "line 8")
    assert found["inputs[0].processing[1].crop.percentage"] == "line 29"
    assert found["inputs[0].processing[4].rescale.divisor"] == "line 35"
    assert found["inputs[0].processing[0].decode.library"] == "default"
    assert not any(origin.startswith("implied") for origin in found.values())


def test_each_line_is_the_line_where_the_word_stands() -> None:
    for path, origin in origins(LISTING).items():
        if origin.startswith("line "):
            line = LISTING.splitlines()[int(origin.split()[1]) - 1]
            word = path.split(".")[-1].split("[")[0]
            words = [word, *path.split(".")[-2:-1], *(["licence"] if word == "license" else [])]
            assert any(each in line for each in words) or path.startswith("envvars"), (path, line)


def test_every_value_has_an_origin() -> None:
    _, explicit, found = resolve(parse_document(LISTING))

    def visit(value: object, path: tuple[str | int, ...]) -> None:
        if path in found:
            return
        assert isinstance(value, (dict, list)) and value or value == {}, path
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            visit(item, (*path, key))

    visit(explicit, ())


def test_everything_explicit_means_the_same() -> None:
    _, explicit, found = resolve(parse_document(LISTING))
    assert parse_manifest(write_manifest(explicit, "model", beside=found)).digest == parse_manifest(LISTING).digest


def test_what_a_program_gave_is_given() -> None:
    data = {"name": "d", "version": "1", "format": "folder", "sources": [{"url": "x"}]}
    assert load_manifest(data).name == "d"
    document = parse_document("name: d\nversion: 1\nformat: folder\nsources: [{url: x}]\n")
    assert {spell_path(path): origin for path, origin in resolve(document)[2].items()}["sources[0].url"] == "line 4"

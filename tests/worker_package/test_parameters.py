"""The signature is the schema: what an author may write, what comes of it, and what is refused with which words."""

import inspect
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import tries
from mlmodelscope.plugins.predictors import PREDICTORS
from mlmodelscope_worker.output import OUTPUT_STEPS
from mlmodelscope_worker.parameters import (
    Choice,
    Declaration,
    Dimensions,
    Documents,
    Flag,
    Integer,
    Number,
    ParameterError,
    PerChannel,
    Text,
    spell,
)
from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.predictor.device import Device

DECLARATIONS = [*STEPS.values(), *OUTPUT_STEPS.values(), *PREDICTORS.all().values()]
everything = pytest.mark.parametrize("declaration", DECLARATIONS, ids=lambda declaration: declaration.name)


# Kinds, one by one.

NOT_A_NUMBER = [True, False, "8", None, [1], {}, float("nan")]
TOO_LARGE = [float("inf"), float("-inf"), 10**400, -(10**400)]


@pytest.mark.parametrize("value", NOT_A_NUMBER)
@pytest.mark.parametrize("kind", [Number("n"), Integer("n"), PerChannel("n"), Dimensions("n")])
def test_only_numbers_are_numbers(kind: Any, value: object) -> None:
    if isinstance(kind, PerChannel) and value == [1]:
        assert kind.check(value) == [1.0]
        return
    with pytest.raises(ParameterError, match="expected"):
        kind.check(value)


@pytest.mark.parametrize("value", TOO_LARGE)
@pytest.mark.parametrize("kind", [Number("n"), Integer("n"), PerChannel("n"), Dimensions("n")])
def test_infinity_and_beyond_are_refused(kind: Any, value: object) -> None:
    for given_value in (value, [value, value]):
        with pytest.raises(ParameterError, match="expected"):
            kind.check(given_value)


def test_a_number_keeps_its_bounds() -> None:
    share = Number("n", above=0, at_most=100)
    assert share.check(100) == 100.0 and isinstance(share.check(1), float)
    for wrong, words in ((0, "0 is not above 0"), (-1, "-1 is not above 0"), (100.5, "100.5 is above 100")):
        with pytest.raises(ParameterError, match=words):
            share.check(wrong)
    with pytest.raises(ParameterError, match="0 is below 1"):
        Integer("n", at_least=1).check(0)


def test_an_integer_is_whole_however_it_is_written() -> None:
    assert Integer("n").check(3.0) == 3 and isinstance(Integer("n").check(3.0), int)
    with pytest.raises(ParameterError, match="expected a whole number, saw 3.5"):
        Integer("n").check(3.5)


def test_a_choice_is_found_in_any_case_and_spelt_as_declared() -> None:
    choice = Choice("c", "RGB", "BGR")
    assert choice.check("rgb") == "RGB"
    with pytest.raises(ParameterError) as refusal:
        choice.check("RGBA")
    assert refusal.value.known == ("RGB", "BGR") and refusal.value.seen == "RGBA"


@pytest.mark.parametrize("value", [True, 1, None, ["RGB"]])
def test_a_choice_is_a_word(value: object) -> None:
    with pytest.raises(ParameterError, match="is not one of its values"):
        Choice("c", "RGB").check(value)


def test_a_flag_is_true_or_false_and_nothing_like_it() -> None:
    assert Flag("f").check(True) is True
    for value in (1, 0, "true", "yes", None):
        with pytest.raises(ParameterError, match="expected true or false"):
            Flag("f").check(value)


def test_text_is_text() -> None:
    assert Text("t").check("CPUExecutionProvider") == "CPUExecutionProvider"
    with pytest.raises(ParameterError, match="expected text, saw 1"):
        Text("t").check(1)


def test_a_value_per_channel_stays_one_or_a_list() -> None:
    assert PerChannel("p").check(127) == 127.0
    assert PerChannel("p").check([1, 2.5, 3]) == [1.0, 2.5, 3.0]
    for wrong in ([], [1] * 5, [1, "2"], [[1]]):
        with pytest.raises(ParameterError, match="up to four numbers"):
            PerChannel("p").check(wrong)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (224, [224, 224]),
        ([224, 320], [224, 320]),
        ([3, 224, 320], [224, 320]),
        ([224, 320, 3], [224, 320]),
        ([1, 1, 1], [1, 1]),
    ],
)
def test_dimensions_come_in_every_order_that_papers_use(written: object, meant: list[int]) -> None:
    assert Dimensions("d").check(written) == meant


@pytest.mark.parametrize("written", [0, -1, 65536, 2.5, [224], [1, 2, 3, 4], [4, 224, 224], [0, 3, 3], "224"])
def test_dimensions_refuse_what_is_no_size(written: object) -> None:
    with pytest.raises(ParameterError):
        Dimensions("d").check(written)


def test_a_long_value_is_cut_to_a_line() -> None:
    assert len(spell("x" * 1000)) == 60
    assert (spell(None), spell(True)) == ("nothing", "true")


# Declarations.


def declared(main: str | None = None, settle: Any = None) -> Declaration:
    def shrink(
        image,
        *,
        side: Integer("How far.", at_least=1),
        mode: Choice("How.", "Fast", "Slow") = "Fast",
        note: Text("Why.") = None,
    ):  # type: ignore # noqa: E501, F722
        """Make it small.

        Very small.
        """

    return Declaration(shrink, main=main, settle=settle)


def test_every_default_becomes_explicit() -> None:
    assert declared().resolve({"side": 3}) == {"side": 3, "mode": "Fast", "note": None}
    assert declared().meaning == "Make it small."


def test_a_bare_value_stands_for_the_main_parameter() -> None:
    assert declared(main="side").resolve(3)["side"] == 3
    with pytest.raises(ParameterError, match="expected a mapping of parameters, saw 3"):
        declared().resolve(3)


def test_an_unknown_parameter_is_named_with_the_known_ones() -> None:
    with pytest.raises(ParameterError, match="unknown parameter `sid`") as refusal:
        declared().resolve({"sid": 3})
    assert refusal.value.known == ("mode", "note", "side") and refusal.value.parameter == "sid"


@pytest.mark.parametrize("value", [None, {}, {"side": None}, {"side": 1, "mode": None}])
def test_a_parameter_without_a_default_is_required(value: object) -> None:
    with pytest.raises(ParameterError, match="is required"):
        declared().resolve(value)


def test_nothing_may_be_written_where_nothing_is_the_default() -> None:
    assert declared().resolve({"side": 1, "note": None})["note"] is None


def test_a_refusal_names_its_parameter() -> None:
    with pytest.raises(ParameterError, match="0 is below 1") as refusal:
        declared().resolve({"side": 0})
    assert refusal.value.parameter == "side"


def test_settling_sees_everything_resolved() -> None:
    assert declared(settle=lambda parameters: dict(parameters, side=99)).resolve({"side": 1})["side"] == 99


# Schemas.


def validates(schema: Any, value: Any) -> bool:
    """JSON Schema, as much of it as we use; another keyword would be an error in a test, not silence."""
    checks = {
        "description": lambda _: True,
        "default": lambda _: True,
        "type": lambda name: TYPES[name](value),
        "enum": lambda values: any(same(value, each) for each in values),
        "const": lambda each: same(value, each),
        "not": lambda inner: not validates(inner, value),
        "anyOf": lambda inner: any(validates(each, value) for each in inner),
        "oneOf": lambda inner: sum(validates(each, value) for each in inner) == 1,
        "allOf": lambda inner: all(validates(each, value) for each in inner),
        "pattern": lambda pattern: re.search(pattern, value) is not None,
        "minimum": lambda bound: value >= bound,
        "maximum": lambda bound: value <= bound,
        "exclusiveMinimum": lambda bound: value > bound,
        "minItems": lambda length: len(value) >= length,
        "maxItems": lambda length: len(value) <= length,
        "items": lambda inner: all(validates(inner, each) for each in value),
        "prefixItems": lambda inner: all(validates(rule, each) for rule, each in zip(inner, value, strict=False)),
        "required": lambda names: all(name in value for name in names),
        "properties": lambda inner: all(validates(inner[name], value[name]) for name in value if name in inner),
        "additionalProperties": lambda inner: all(
            name in schema.get("properties", {}) or (inner is not False and validates(inner, each))
            for name, each in value.items()
        ),
        "minProperties": lambda length: len(value) >= length,
        "maxProperties": lambda length: len(value) <= length,
    }
    # `type` comes first: the other keywords may then rely on it.
    return all(checks[word](schema[word]) for word in sorted(schema, key=lambda word: word != "type"))


def same(one: Any, other: Any) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


TYPES = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "integer": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and value == int(value),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}

numbers = st.integers(-10, 300) | st.floats(-1e6, 1e6) | st.sampled_from([0, 1, 3, 224, 65535, 65536, 0.5, 87.5])


def values_for(kind: Any) -> st.SearchStrategy:
    """Values that are often right for a kind of parameter, and sometimes not."""
    right = {
        Choice: lambda: st.sampled_from(kind.values),
        Flag: lambda: st.booleans(),
        Text: lambda: st.text(max_size=5),
        Device: lambda: st.sampled_from([*kind.examples(), "cpu:1", "tpu"]),
        PerChannel: lambda: numbers | st.lists(numbers, max_size=5),
        Dimensions: lambda: st.integers(0, 300) | st.lists(st.integers(1, 4) | st.just(224), max_size=4),
    }.get(type(kind), lambda: numbers)()
    return st.one_of(right, right, right, st.sampled_from([True, "x", 0, -1, [], [3, 9, 9]]))


@st.composite
def writings(draw: st.DrawFn, declaration: Declaration) -> Any:
    """What an author might write for a step."""
    if declaration.main is not None and draw(st.integers(0, 3)) == 0:
        return draw(values_for(declaration.kinds[declaration.main]))
    if draw(st.integers(0, 9)) == 0:
        return None
    must = [name for name, default in declaration.defaults.items() if default is inspect.Parameter.empty]
    may = (
        draw(st.lists(st.sampled_from(sorted(declaration.kinds)), unique=True, max_size=4)) if declaration.kinds else []
    )
    return {name: draw(values_for(declaration.kinds[name])) for name in [*must, *may]}


def accepts(declaration: Declaration, written: object) -> bool:
    try:
        return set(declaration.resolve(written)) == set(declaration.kinds)
    except ParameterError:
        return False


@everything
@given(data=st.data())
@settings(max_examples=tries(20, 400))
def test_what_the_schema_accepts_resolve_accepts_and_nothing_else(
    declaration: Declaration, data: st.DataObject
) -> None:
    written = data.draw(writings(declaration))
    may, does = validates(declaration.schema(), written), accepts(declaration, written)
    assert may or not does
    assert declaration.name in DEPENDENT or may is does


@everything
@given(data=st.data())
@settings(max_examples=tries(20, 400))
def test_what_was_resolved_resolves_to_itself(declaration: Declaration, data: st.DataObject) -> None:
    written = data.draw(writings(declaration))
    try:
        resolved = declaration.resolve(written)
    except ParameterError:
        return
    assert declaration.resolve(resolved) == resolved
    assert json.loads(json.dumps(resolved)) == resolved


# Which of their parameters go together depends on what is in them; an editor is told less than the loader knows.
DEPENDENT = {
    "clip_columns",
    "columns",
    "encode",
    "encode_prompt",
    "fill_missing",
    "normalize_features",
    "resample",
    "scale_columns",
}

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
anything = scalars | st.lists(scalars, max_size=4) | st.lists(st.lists(scalars, max_size=2), max_size=2)


@everything
@given(data=st.data())
@settings(max_examples=tries(20, 400))
def test_anything_else_is_a_parameter_error(declaration: Declaration, data: st.DataObject) -> None:
    names = st.sampled_from([*declaration.kinds, "other"])
    written = data.draw(anything | st.dictionaries(names, anything, max_size=4))
    try:
        declaration.resolve(written)
    except ParameterError as error:
        assert str(error)


@everything
def test_the_schema_is_plain_json_and_every_field_has_a_meaning(declaration: Declaration) -> None:
    schema = declaration.schema()
    assert json.loads(json.dumps(schema)) == schema and schema["description"]
    mapping = schema["anyOf"][0] if "anyOf" in schema else schema
    assert all(rule["description"].endswith(".") for rule in mapping["properties"].values())
    for name, rule in mapping["properties"].items():
        if "default" in rule:
            assert validates({key: rule[key] for key in rule if key != "default"}, declaration.defaults[name])


@pytest.mark.parametrize(
    ("step", "written", "allowed"),
    [
        ("crop", None, False),
        ("crop", {"percentage": 50}, True),
        ("crop", {"percentage": 50, "dimensions": 9}, False),
        ("crop", {"dimensions": 9, "square": True}, False),
        ("resize", {"dimensions": 9, "method": "area"}, False),
        ("resize", {"dimensions": 9, "method": "area", "library": "opencv"}, True),
        ("resize", {"dimensions": [4, 9, 9]}, False),
        ("resize", {"dimensions": 9, "antialias": False}, False),
        ("decode", {"dct": "fast"}, False),
        ("decode", {"dct": "fast", "library": "simplejpeg"}, True),
        ("rescale", 0, False),
        ("mean", [], False),
        ("normalize", None, False),
        ("transpose", None, True),
    ],
)
def test_the_schema_knows_what_does_not_go_together(step: str, written: object, allowed: bool) -> None:
    assert validates(STEPS[step].schema(), written) is allowed
    assert accepts(STEPS[step], written) is allowed


def test_the_schema_is_valid_json_schema() -> None:
    validator = pytest.importorskip("jsonschema", reason="jsonschema is not installed: schemas were not checked by it")
    for declaration in DECLARATIONS:
        validator.Draft202012Validator.check_schema(declaration.schema())


def test_documents_have_fields_of_any_shape_that_json_has() -> None:
    kind = Documents("Documents.", most=2)
    assert kind.check([{"a": [1, None, {"b": True}], "c": 0.5}]) == [{"a": [1, None, {"b": True}], "c": 0.5}]
    deep: Any = "x"
    for _ in range(40):
        deep = [deep]
    for wrong in ([], {}, [1], [{}], [{"a": 1}] * 3, [{"a": float("nan")}], [{"a": object()}], [{"a": deep}]):
        with pytest.raises(ParameterError):
            kind.check(wrong)

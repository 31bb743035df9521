"""Code of a manifest: compiled with its own lines, its errors in words that lead there."""

import pickle
import traceback
from typing import Any

import pytest

from mlmodelscope_worker.functions import FunctionError, Functions, is_stream


def spec(code: str, function: str = "run", **more: Any) -> dict[str, Any]:
    return {"code": code, "function": function, "file": "/some/where/model.yml", "line": 40, **more}


def functions(code: str, function: str = "run", **more: Any) -> Functions:
    return Functions({"run": spec(code, function, **more)}, {})


def reason(made: Functions, *arguments: Any) -> str:
    with pytest.raises(FunctionError) as caught:
        made.call("run", *arguments)
    return str(caught.value)


RAISES = "def run(ctx, data):\n    x = 1\n    raise ValueError('no pixels')\n"


def test_an_error_names_the_manifests_line() -> None:
    assert reason(functions(RAISES), {}, 1) == "ValueError: no pixels (model.yml:42, in run)"


def test_an_error_deep_in_a_library_names_the_last_line_of_the_manifest() -> None:
    code = "import json\ndef helper(text):\n    return json.loads(text)\ndef run(ctx, data):\n    return helper(data)\n"
    assert reason(functions(code), {}, "{") == (
        "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1) "
        "(model.yml:42, in helper)"
    )


@pytest.mark.parametrize("place", [{"file": "<mapping>", "line": 0}, {"file": "", "line": 0}, {"file": "<text>"}])
def test_code_without_a_file_counts_its_own_lines(place: dict[str, Any]) -> None:
    found = reason(functions(RAISES, **place), {}, 1)
    assert found == f"ValueError: no pixels (line {3 if not place.get('line', 40) else 42} of run, in run)"


def test_code_whose_line_is_not_known_claims_none_of_the_file() -> None:
    found = reason(functions(RAISES, line=0), {}, 1)
    assert found == "ValueError: no pixels (line 3 of run of model.yml, in run)"


def test_stages_without_a_file_do_not_share_their_source() -> None:
    specs = {
        stage: {"code": f"def {stage}(ctx, data):\n    return '{stage}', 1 / data", "function": stage, "line": 0}
        for stage in ("preprocess", "run")
    }
    made = Functions(specs, {})
    with pytest.raises(FunctionError) as caught:
        made.call("preprocess", {}, 0)
    context = caught.value.__context__
    assert context is not None and "return 'preprocess'" in "".join(traceback.format_tb(context.__traceback__))


def test_a_file_whose_name_is_not_ascii_is_named() -> None:
    made = functions("def run(ctx, data):\n    raise ValueError('größer als π')", file="/x/modèle ünï.yml")
    assert reason(made, {}, 1) == "ValueError: größer als π (modèle ünï.yml:41, in run)"


def test_of_many_lines_the_first_is_kept_with_its_place() -> None:
    made = functions("def run(ctx, data):\n    raise ValueError('\\none\\ntwo')")
    assert reason(made, {}, 1) == "ValueError: one (model.yml:41, in run)"


def test_a_long_or_broken_message_does_no_harm() -> None:
    made = functions("def run(ctx, data):\n    raise ValueError(data)")
    assert len(reason(made, {}, "x" * 10_000_000)) < 2000
    assert reason(made, {}, "caf\udce9").startswith(r"ValueError: caf\udce9 (")
    mute = (
        "class Mute(Exception):\n    def __str__(self):\n        raise OSError\ndef run(ctx, data):\n    raise Mute\n"
    )
    assert reason(functions(mute), {}, 1) == "Mute (model.yml:44, in run)"


@pytest.mark.parametrize(
    ("body", "words"),
    [("raise SystemExit(3)", "SystemExit: 3"), ("exit()", "SystemExit"), ("return run(ctx, data)", "RecursionError")],
)
def test_an_exit_or_endless_recursion_is_an_error_like_others(body: str, words: str) -> None:
    assert reason(functions(f"def run(ctx, data):\n    {body}\n"), {}, 1).startswith(words)


def test_a_mistake_in_the_code_is_found_when_it_is_compiled() -> None:
    with pytest.raises(FunctionError, match=r"SyntaxError: .* \(model.yml:41, in run\)"):
        functions("def run(ctx, data):\n    return (")
    with pytest.raises(FunctionError, match=r"ModuleNotFoundError: .*no_such_thing.* \(model.yml:40, in run\)"):
        functions("import no_such_thing\ndef run(ctx, data): pass")
    with pytest.raises(FunctionError, match="the code of `run` defines no function `walk`"):
        functions("def run(ctx, data): pass", "walk")


def test_stages_share_their_globals_and_setup_comes_first() -> None:
    specs = {
        "postprocess": spec("def postprocess(ctx, data):\n    return scale * factor", "postprocess"),
        "init": spec("def init(count):\n    global factor\n    factor = 3\n    return count", "init"),
        "setup": spec("scale = 7 if ctx else 0", "setup"),
    }
    made = Functions(specs, {"ctx": {"a": 1}})
    made.call("init", 1)
    assert made.call("postprocess", {}, None) == 21


def test_two_tasks_share_nothing() -> None:
    functions("secret = 1\ndef run(ctx, data): pass")
    assert reason(functions("def run(ctx, data):\n    return secret"), {}, 1).startswith("NameError")


def test_what_the_code_defines_can_be_pickled() -> None:
    made = functions("class Net:\n    weight = 1\ndef run(ctx, data):\n    return Net()")
    net = made.call("run", {}, None)
    assert pickle.loads(pickle.dumps(net)).weight == 1


def test_the_items_of_a_stream_are_explained_too() -> None:
    made = functions("def run(ctx, data):\n    yield 1\n    raise KeyError('b')")
    stream = made.items("run", made.call("run", {}, None))
    assert next(stream) == 1
    with pytest.raises(FunctionError, match=r"KeyError: 'b' \(model.yml:42, in run\)"):
        next(stream)


def test_closing_a_stream_runs_its_own_clean_up() -> None:
    made = functions("def run(ctx, data):\n    try:\n        yield 1\n    finally:\n        ctx['closed'] = True")
    ctx: dict[str, bool] = {}
    stream = made.items("run", made.call("run", ctx, None))
    next(stream)
    stream.close()
    assert ctx == {"closed": True}


def test_every_iterator_is_a_stream_and_no_list_is() -> None:
    assert is_stream(map(str, [1])) and is_stream(iter([1])) and is_stream(x for x in [1])
    assert not is_stream([1]) and not is_stream({"a": 1}) and not is_stream("text") and not is_stream(range(3))


@pytest.mark.parametrize(
    ("body", "mentioned"),
    [("return dataset[data]", True), ("return [dataset[i] for i in [data]]", True), ("return data", False)],
)
def test_it_is_known_whether_a_function_uses_a_global(body: str, mentioned: bool) -> None:
    assert functions(f"def run(ctx, data):\n    {body}\n").mentions("run", "dataset") is mentioned

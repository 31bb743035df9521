"""Task files of lm-evaluation-harness become datasets, or say why not; nothing of them is run or left out silently."""

import random
from pathlib import Path

import pytest

from manifest.dialect.reading import converted, notes
from mlmodelscope.errors import ManifestError, MLModelScopeError
from mlmodelscope.manifest.load import open_document, parse_document, parse_manifest
from mlmodelscope.manifest.schema import DatasetManifest

PIQA = """\
task: piqa_local  # its name
dataset_path: json
dataset_kwargs: {data_files: {test: piqa.jsonl}}
test_split: test
output_type: multiple_choice
doc_to_text: "Question: {{goal}}\\nAnswer:"
doc_to_target: label
doc_to_choice: "{{[sol1, sol2]}}"
metric_list:
  - {metric: acc, aggregation: mean, higher_is_better: true}
  - {metric: acc_norm, aggregation: mean, higher_is_better: true}
metadata: {version: 1.0}
"""
GSM = """\
task: gsm8k
dataset_path: openai/gsm8k
dataset_name: main
output_type: generate_until
training_split: train
fewshot_split: train
test_split: test
doc_to_text: "Question: {{question}}\\nAnswer:"
doc_to_target: "{{answer}}"
num_fewshot: 5
generation_kwargs: {until: ["Question:", "</s>"], do_sample: false, temperature: 0.0}
repeats: 1
filter_list:
  - name: strict-match
    filter:
      - {function: regex, regex_pattern: "#### (\\\\-?[0-9\\\\.\\\\,]+)"}
      - {function: take_first}
  - name: flexible-extract
    filter:
      - {function: regex, group_select: -1, regex_pattern: "(-?[$0-9.,]{2,})|(-?[0-9]+)"}
      - {function: take_first}
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
    ignore_case: true
    ignore_punctuation: false
    regexes_to_ignore: [",", "\\\\$", "(?s).*#### ", "\\\\.$"]
"""


def dataset(text: str) -> DatasetManifest:
    manifest = parse_manifest(text, "task.yaml")
    assert isinstance(manifest, DatasetManifest)
    return manifest


def refused(text: str) -> list[str]:
    with pytest.raises(ManifestError) as error:
        parse_manifest(text, "task.yaml")
    return [f"{problem.path}: {problem.message}" for problem in error.value.problems]


def test_multiple_choice_of_a_local_file() -> None:
    found = dataset(PIQA)
    assert (found.name, found.version, found.task, found.format) == (
        "piqa_local",
        "1.0.0",
        "multiple_choice",
        "documents",
    )
    assert found.sources[0].url.endswith("/piqa.jsonl") and found.split == "test"
    assert found.prompt == {
        "question": "Question: {{goal}}\nAnswer:",
        "choices": "{{[sol1, sol2]}}",
        "answer": "label",
    }
    assert found.attributes["lm_eval"]["metrics"] == {
        "acc": "choice-accuracy",
        "acc_norm": "choice-accuracy-characters",
    }
    assert "# its name" in converted(PIQA)


def test_generation_of_a_hub_with_examples_filters_and_what_a_match_ignores() -> None:
    found = dataset(GSM)
    start = "https://huggingface.co/datasets/openai/gsm8k/resolve/refs%2Fconvert%2Fparquet/main"
    assert found.sources[0].url == f"{start}/test/0000.parquet"
    assert found.files["examples"].url == f"{start}/train/0000.parquet"
    assert found.prompt["shots"] == 5 and found.prompt["shots_file"] == "examples" and "same" not in found.prompt
    assert found.ask == {"stop": ["Question:", "</s>"], "longest": 256, "temperature": 0}
    assert found.measure["extract"] == [{"regex": {"pattern": r"#### (\-?[0-9\.\,]+)", "fallback": "[invalid]"}}]
    assert found.measure["normalization"] == [
        {"remove": ","},
        {"remove": "\\$"},
        {"remove": "(?s).*#### "},
        {"remove": "\\.$"},
        "lowercase",
    ]
    assert found.attributes["lm_eval"]["filters"]["flexible-extract"][0]["regex"]["take"] == -1
    assert any("flexible-extract" in each for each in notes(GSM, "unclear"))
    assert any("first file" in each for each in notes(GSM, "unclear"))
    converted(GSM)


def test_a_continuation_stands_right_behind_its_question_and_examples_have_a_delimiter() -> None:
    lambada = PIQA.replace("multiple_choice", "loglikelihood").replace('doc_to_choice: "{{[sol1, sol2]}}"\n', "")
    lambada = lambada.replace("acc_norm, aggregation: mean", "perplexity") + "fewshot_split: test\nnum_fewshot: 1\n"
    found = dataset(lambada)
    assert found.task == "language_modeling"
    assert (found.prompt["delimiter"], found.prompt["shots_delimiter"]) == ("", " ")
    assert found.prompt["same"] is True
    assert found.attributes["lm_eval"]["metrics"] == {"acc": "greedy-accuracy", "perplexity": "perplexity-text"}


def test_a_text_that_is_read_whole_has_no_question() -> None:
    found = dataset(
        "task: wikitext\ndataset_path: json\ndataset_kwargs: {data_files: {test: a.jsonl}}\ntest_split: test\n"
        "output_type: loglikelihood_rolling\ndoc_to_text: ''\ndoc_to_target: '{{page}}'\n"
    )
    assert found.prompt == {"answer": "{{page}}"} and found.ask == {"special": True}


def test_choices_may_be_the_questions() -> None:
    found = dataset(PIQA.replace('"Question: {{goal}}\\nAnswer:"', "label").replace("target: label", "target: goal"))
    assert (found.prompt["varies"], found.prompt["question"], found.prompt["answer"]) == ("question", "label", "goal")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("[A, B]", ["A", "B"]),
        ("['{{x}}', b]", '{{["{{x}}", "b"]}}'),
        ("[one]", '{{["one"]}}'),
        ("{no: wrong, yes: right}", ["wrong", "right"]),
    ],
)
def test_choices_of_a_list_are_words(written: str, read: object) -> None:
    assert dataset(PIQA.replace('"{{[sol1, sol2]}}"', written)).prompt["choices"] == read


def test_a_right_choice_is_spelled_where_it_has_to_be_written() -> None:
    text = GSM.replace('doc_to_target: "{{answer}}"', "doc_to_target: label\ndoc_to_choice: [no, yes]")
    assert dataset(text).prompt["answer"] == '{{["no", "yes"][(label) | int]}}'


def test_examples_may_stand_in_the_task() -> None:
    text = PIQA + (
        "num_fewshot: 1\nfewshot_config:\n  sampler: first_n\n  doc_to_text: '{{goal}}?'\n"
        "  samples: [{goal: a, sol1: b, sol2: c, label: 1}]\n"
    )
    found = dataset(text)
    assert found.prompt["shots_documents"] == [{"goal": "a", "sol1": "b", "sol2": "c", "label": 1}]
    assert (found.prompt["pick"], found.prompt["shots_question"]) == ("first", "{{goal}}?")
    converted(text)


def test_drawn_answers_have_their_temperature_and_votes() -> None:
    text = GSM.replace("do_sample: false, temperature: 0.0", "do_sample: true, temperature: 0.7, top_p: 0.9")
    text = text.replace("repeats: 1", "repeats: 4").replace("{function: take_first}", "{function: majority_vote}")
    found = dataset(text)
    assert (found.ask["temperature"], found.ask["top_p"], found.ask["repeats"]) == (0.7, 0.9, 4)
    assert found.measure["vote"] is True


def test_measures_of_translations_make_it_one() -> None:
    text = GSM.partition("filter_list:")[0] + "metric_list: [{metric: bleu, aggregation: bleu}, {metric: ter}]\n"
    found = dataset(text)
    assert found.task == "translation" and found.measure == {"ter": True}
    assert found.attributes["lm_eval"]["metrics"] == {"bleu": "bleu", "ter": "ter"}
    converted(text)
    filtered = "filter_list: [{name: a, filter: [{function: lowercase}]}]\n"
    assert any("taken whole" in each for each in refused(text + filtered))


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ("process_docs: !function utils.process", "process_docs: `!function utils.process` is Python code"),
        ("doc_to_text: !function utils.text", "doc_to_text: `!function utils.text`"),
        ("use_prompt: 'promptsource:*'", "use_prompt: its prompt is one of the package `promptsource`"),
        ("process_results: !function utils.results", "process_results"),
        ("doc_to_image: [image]", "doc_to_image: it shows pictures"),
        ("unsafe_code: true", "unsafe_code: it runs code that models wrote"),
        ("num_fewshot: -1", "num_fewshot: expected a whole number"),
        ("fewshot_config: {sampler: balanced}", "fewshot_config.sampler: `balanced` is none of"),
        ("fewshot_config: {samples: !function utils.list}", "fewshot_config.samples"),
        ("include: ../other.yaml", "include: `../other.yaml` lies outside"),
        ("include: /etc/passwd", "include: `/etc/passwd` lies outside"),
        ("group: many", "group: it is a group of tasks"),
        ("class: !function task.Other", "class"),
        ("metric_list: [{metric: !function utils.score}]", "metric_list: `utils.score` is Python code"),
        ("metric_list: [{metric: acc, aggregation: !function utils.sum}]", "metric_list: `acc` is summed up by"),
        ("dataset_path: ../../etc", "dataset_path: `../../etc` is neither"),
        ("dataset_kwargs: {data_files: {test: '*.json'}}", "data_files: `*.json` is not the name of a file"),
        ("dataset_kwargs: {data_dir: x}", "dataset_kwargs.data_dir: has no word here"),
        ("test_split: 'test[:10]'", "test_split: `test[:10]` is not the name of a split"),
        ("output_type: sing", "output_type: `sing` is none of"),
        ("doc_to_choice: [true, false]", "doc_to_choice: choices that are no texts"),
    ],
)
def test_what_cannot_be_expressed_is_named(more: str, named: str) -> None:
    key = more.partition(":")[0] + ":"
    lines = PIQA.split("metric_list:")[0] if key == "metric_list:" else PIQA
    text = "".join(line + "\n" for line in lines.splitlines() if not line.startswith(key)) + more + "\n"
    found = refused(text)
    assert any(named in each for each in found), found


def test_every_reason_is_named_at_once() -> None:
    found = refused(PIQA + "process_docs: !function a.b\nuse_prompt: x\nprocess_results: !function a.c\n")
    assert len(found) == 3


def test_a_measure_without_counterpart_is_named_and_the_others_stay() -> None:
    text = PIQA.replace("acc_norm", "brier_score")
    assert any("`brier_score` has no counterpart" in each for each in notes(text, "unclear"))
    assert dataset(text).attributes["lm_eval"]["metrics"] == {"acc": "choice-accuracy"}


def test_functions_are_let_through_in_no_other_form() -> None:
    with pytest.raises(ManifestError, match="the tag `!function` is not allowed"):
        parse_manifest("name: x\ninputs: !function os.system\n")
    with pytest.raises(ManifestError, match="not allowed in a manifest"):
        parse_manifest(PIQA + "process_docs: !!python/object/apply:os.system ['id']\n")


def test_a_task_inherits_from_files_beside_it(tmp_path: Path) -> None:
    lines = PIQA.splitlines(keepends=True)
    (tmp_path / "_default").write_text("".join(lines[1:]))
    (tmp_path / "_middle").write_text("include: _default\ntask: no\nnum_fewshot: 0\ndoc_to_target: other\n")
    (tmp_path / "task.yaml").write_text("include: _middle\ntask: one\ntarget_delimiter: ''\n")
    found = open_document(tmp_path / "task.yaml").manifest()
    assert isinstance(found, DatasetManifest)
    assert found.name == "one" and found.prompt["answer"] == "other" and found.prompt["delimiter"] == ""


def test_circles_links_and_missing_files_are_refused(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "secret").write_text("dataset_name: secret\n")
    (inner / "link").symlink_to(tmp_path / "secret")
    (inner / "a").write_text("include: b\n")
    (inner / "b").write_text("include: a\n")
    (inner / "many").write_text("dataset_name: x\n")
    for name, why in (
        ("a", "includes itself"),
        ("link", "leads outside"),
        ("none", "cannot be read"),
        (".", "cannot be read"),
        ("[" + ", ".join(["many"] * 40) + "]", "more than 32 files"),
    ):
        (inner / "task.yaml").write_text(f"task: x\noutput_type: multiple_choice\ninclude: {name}\n")
        with pytest.raises(ManifestError, match=why):
            open_document(inner / "task.yaml")


def test_a_text_alone_reads_no_file_beside_it() -> None:
    with pytest.raises(ManifestError, match="only this text is known"):
        parse_document("task: x\ninclude: setup.cfg\n")


def test_the_order_of_a_task_and_its_parts_does_not_matter() -> None:
    lines = PIQA.replace("\n  - {", " [{", 1).replace("}\n  - {", "}, {").replace("true}\nmeta", "true}]\nmeta")
    shuffled = lines.splitlines(keepends=True)
    random.Random(3).shuffle(shuffled)
    assert dataset("".join(shuffled)).digest == dataset(lines).digest


@pytest.mark.parametrize("size", [10_000_000, 3_000_000])
def test_huge_templates_are_read_or_refused(size: int) -> None:
    text = PIQA.replace("{{goal}}", "{{goal}}" + "x" * size)
    if size > 4 << 20:
        with pytest.raises(ManifestError, match="larger than"):
            parse_document(text.encode(), "task.yaml")
    else:
        assert len(dataset(text).prompt["question"]) > size


def test_mutated_tasks_are_read_or_refused() -> None:
    draw = random.Random(5)
    for _ in range(300):
        raw = bytearray(draw.choice((PIQA, GSM)).encode())
        for _ in range(draw.randrange(1, 6)):
            place = draw.randrange(len(raw))
            raw[place : place + draw.randrange(3)] = bytes(
                draw.choices(b" :{}[]!&*-\n\"'#abc0\xff", k=draw.randrange(4))
            )
        try:
            found = parse_document(bytes(raw), "task.yaml").manifest()
        except MLModelScopeError:
            continue
        assert found.name

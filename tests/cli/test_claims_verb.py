"""`mlmodelscope claims`: lists, shows and checks many, resumes after a kill, and says what cannot be checked."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from claim.claim_world import ELSEWHERE, HELD, OF_NOBODY, TOO_HIGH, TOO_LOW, write_claims

SMALL = ("--dataset", "pictures", "--no-explain")


@pytest.fixture
def own(tmp_path, environment):
    """A folder of manifests that the command knows by name."""
    environment["MLMODELSCOPE_MANIFESTS"] = str(tmp_path / "own")
    return tmp_path / "own"


def rows(home):
    path = home / "records.sqlite"
    if not path.exists():
        return []
    with sqlite3.connect(path, timeout=60) as database:
        return database.execute("SELECT model, record, verdict FROM checks ORDER BY checked_at").fetchall()


def test_claims_are_listed_with_their_status(own, call):
    write_claims(own, {"one": [HELD, TOO_HIGH]})
    said = call("claims", "list", "--search", "one", "--dataset", "pictures")
    assert said.count("unchecked") == 2 and "one@1.0.0  top5    100.0 %  pictures" in said
    assert "2 published numbers fit" in said
    assert "of them not shown" in call("claims")
    assert json.loads(call("claims", "--json").partition("\n}")[0] + "\n}")["total"] > 20_000


def test_what_replicate_finds_is_the_status_everywhere(own, call, settings):
    write_claims(own, {"one": [HELD, TOO_HIGH]})
    call("replicate", "one", "pictures", "--no-explain", code=1)
    said = call("claims", "list", "--search", "one", "--status", "not-reproduced")
    assert "not reproduced" in said and "current (pillow" in said and said.count("one@1.0.0") == 1
    for words in (("models", "one"), ("show", "one"), ("models", str(own / "one.yml"))):
        said = call(*words)
        assert "top5 100.0 % on pictures: reproduced: measured 100.00 % on 12 samples" in said, words
        assert "top1 100.0 % on pictures: not reproduced" in said and "UTC" in said
    body = json.loads(call("claims", "show", "one", "--json"))
    assert [each["status"] for each in body] == ["reproduced", "not reproduced"]
    (evidence,) = body[0]["all_checks"]
    assert evidence["record"] and evidence["person"] and evidence["machine"] and evidence["samples"] == 12
    assert "record " in call("claims", "show", "one")


def test_a_claim_that_is_given_as_published_is_that_claim(own, call, settings):
    write_claims(own, {"one": ["{metric: top5, value: 100.0, dataset: pictures, conditions: whole picture}"]})
    call("replicate", "one", "pictures", "--claim", "top5=100.0@pictures")
    assert [each[2] for each in rows(settings.home)] == ["reproduced"]


@pytest.mark.parametrize(
    "words",
    [
        ("--claim", "top5=100@pictures"),  # other digits: nobody published these
        ("--claim", "top5=100.0@elsewhere"),  # another dataset stands in
        ("--within", "90"),
    ],
)
def test_what_is_not_the_published_number_changes_no_status(own, run, settings, words):
    write_claims(own, {"one": [HELD]})
    assert run("replicate", "one", "pictures", "--no-explain", *words).returncode in (0, 1, 2)
    assert rows(settings.home) == []


def test_another_manifest_of_the_same_name_says_nothing_of_this_one(own, call, settings, tmp_path):
    write_claims(own, {"one": [HELD]})
    other = write_claims(tmp_path / "other", {"one": [HELD, TOO_LOW]}, seed=5)
    call("replicate", str(other / "one.yml"), str(other / "pictures.yml"), "--no-explain", code=4)
    assert rows(settings.home) == []


def test_many_are_checked_and_each_that_cannot_be_says_why(own, run, settings, tmp_path):
    write_claims(own, {"a": [HELD, ELSEWHERE], "b": [TOO_HIGH, OF_NOBODY], "c": [TOO_LOW]})
    (own / "d.yml").write_text(
        (own / "a.yml").read_text().replace("name: a", "name: d").replace("toy.json", "gone.json")
    )
    (own / "e.yml").write_text(
        (own / "a.yml").read_text().replace("name: a", "name: e").replace("name: fake", "name: caffe")
    )
    done = run("claims", "check", "--search", "pictures", "--no-explain", "--report", "out/claims.html")
    assert done.returncode == 1, done.stderr
    before, _, _ = done.stderr.partition("1 of 3")
    assert "1 cannot: its weights are not on this machine, such as d@1.0.0" in before
    assert "`mood` cannot be measured here, such as b@1.0.0" in before and "e@1.0.0" in before
    verdicts = {each[0]: each[2] for each in rows(settings.home)}
    assert verdicts == {"a@1.0.0": "reproduced", "b@1.0.0": "not reproduced", "c@1.0.0": "better than claimed"}
    assert "1 reproduced, 1 better than claimed, 1 not reproduced, 3 cannot be checked here" in done.stderr
    assert "Cannot be checked" in (tmp_path / "out" / "claims.html").read_text()
    done = run("claims", "check", "--dataset", "nowhere-val")
    assert done.returncode == 3 and "no manifest here describes the dataset nowhere-val" in done.stderr


def test_what_was_checked_is_not_checked_again_unless_that_is_asked_for(own, run, settings):
    write_claims(own, {"a": [HELD], "b": [HELD]})
    assert run("claims", "check", *SMALL, "--limit", "1").returncode == 0
    first = rows(settings.home)
    assert [each[0] for each in first] == ["a@1.0.0"]
    done = run("claims", "check", *SMALL, "--limit", "1", "--json")
    assert json.loads(done.stdout)["claims"][0]["how"] == "checked before" and rows(settings.home) == first
    assert run("claims", "check", *SMALL, "--status", "unchecked", "--limit", "1").returncode == 0
    assert [each[0] for each in rows(settings.home)] == ["a@1.0.0", "b@1.0.0"]
    assert run("claims", "check", *SMALL, "--limit", "1", "--again").returncode == 0
    again = [each[1] for each in rows(settings.home) if each[0] == "a@1.0.0"]
    assert len(again) == 2 and again[0] == first[0][1] != again[1]


def test_one_that_fails_does_not_end_the_others(own, run, settings):
    write_claims(own, {"a": [HELD], "b": [HELD], "c": [HELD]})
    (own / "broken.json").write_text("{")
    text = (own / "b.yml").read_text()
    (own / "b.yml").write_text(text.replace("toy.json", "broken.json"))
    done = run("claims", "check", *SMALL, "--json")
    found = {each["model"]: each for each in json.loads(done.stdout)["claims"]}
    assert [found[f"{name}@1.0.0"]["how"] for name in "abc"] == ["checked", "failed", "checked"]
    assert "not JSON" in found["b@1.0.0"]["message"] and done.returncode == 3
    assert "Traceback" not in done.stderr
    (own / "b.yml").write_text(text)
    assert run("claims", "check", *SMALL).returncode == 0 and len(rows(settings.home)) == 3


def test_claims_of_a_source_are_checked_by_their_reference(own, call, settings, tmp_path):
    high = "{metric: Top-1, value: 100.0, dataset: pictures}"
    theirs = write_claims(tmp_path / "theirs", {"one": [HELD, high]})
    write_claims(own, {"other": [OF_NOBODY]})
    call("catalog", "add", "ours", str(theirs))
    assert "2 can be checked here, in 1 evaluation\n" in call("claims", "check", "--source", "ours", "--dry-run")
    call("claims", "check", "--source", "ours", "--no-explain", code=1)
    found = sorted((model, verdict) for model, _, verdict in rows(settings.home))
    assert found == [("ours:one", "not reproduced"), ("ours:one", "reproduced")]
    said = call("models", "--claims", "--source", "ours")
    assert "not reproduced" in said and "unchecked" not in said
    assert "top5 100.0 % on pictures: reproduced" in call("models", "ours:one")
    assert call("claims", "list", "--status", "reproduced").count("ours:one") == 1
    assert "done before" in call("claims", "check", "--source", "ours", code=1)


def test_a_dry_run_runs_nothing(own, call, settings):
    write_claims(own, {"a": [HELD], "b": [TOO_HIGH, TOO_LOW]})
    said = call("claims", "check", *SMALL, "--dry-run")
    assert "top1 100.0 %, top5 50.0 %" in said and "3 can be checked here, in 2 evaluations" in said
    assert rows(settings.home) == []
    assert json.loads(
        call("claims", "check", "--dataset", "nowhere-val", "--dry-run", "--json").partition("\n}")[0] + "\n}"
    )


def test_code_runs_only_where_it_is_trusted(own, run, settings):
    write_claims(own, {"a": [HELD]})
    text = (own / "a.yml").read_text()
    code = "preprocess: |\n  def preprocess(ctx, data):\n      open('/tmp/never', 'w')\n      return data\n"
    (own / "a.yml").write_text(
        text.partition("inputs:")[0] + "inputs: [{type: image}]\n" + code + "outputs:" + text.partition("outputs:")[2]
    )
    done = run("claims", "check", *SMALL)
    assert done.returncode == 3 and rows(settings.home) == []
    assert "is not trusted, such as a@1.0.0" in done.stderr, done.stderr


def test_after_a_budget_the_same_command_goes_on(own, run, settings):
    write_claims(own, {"a": [HELD], "b": [HELD]}, sleep_s=0.2)
    done = run("claims", "check", *SMALL, "--budget", "1s")
    assert done.returncode == 3 and "2 not finished" in done.stderr, done.stderr
    assert "the budget was spent; the same command resumes it" in done.stdout
    assert rows(settings.home) == []
    write_claims(own, {})  # quick from here on
    assert run("claims", "check", *SMALL).returncode == 0
    assert [each[0] for each in rows(settings.home)] == ["a@1.0.0", "b@1.0.0"]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_what_is_interrupted_resumes_with_the_same_command(own, settings, environment, tmp_path, how):
    write_claims(own, {"a": [HELD], "b": [HELD], "c": [HELD]})
    words = [sys.executable, "-m", "mlmodelscope", "claims", "check", *SMALL]
    # A Ctrl-C of a terminal reaches all processes of a command; this one is for the command alone.
    process = subprocess.Popen(words, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    while not rows(settings.home):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    os.kill(process.pid, how)
    said = process.communicate()[0].decode()
    if how == signal.SIGINT and process.returncode:
        assert process.returncode == 130 and "resumes where it left off" in said and "a@1.0.0  top5" in said
    first = rows(settings.home)[0]
    done = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = rows(settings.home)
    assert [each[0] for each in found] == ["a@1.0.0", "b@1.0.0", "c@1.0.0"] and found[0] == first
    assert "done before" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("list", "--status", "fine"), "known: unchecked, reproduced"),
        (("list", "--source", "tim"), "did you mean `timm`?"),
        (("check", "--source", "nowhere"), "there is no source `nowhere`"),
        (("check", "--budget", "soon"), "--budget 30m; units are s, m, h and d"),
        (("check", "--report", "claims.pdf"), ".html, .md, .json"),
        (("check", "--offline", "--fetch"), "leave --offline out"),
        (("show", "nobody"), "there is no model `nobody`"),
        (("show", "timm:no-such-model"), "timm has no model"),
    ],
)
def test_what_is_wrong_is_said(run, words, said):
    done = run("claims", *words)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr, done.stderr

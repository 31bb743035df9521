"""Numbers of retrieval are those of trec_eval, ties included."""

from typing import Any

import numpy as np
import pytest
import pytrec_eval

from mlmodelscope.measure.embedding import MEASURES, RULE
from mlmodelscope.measure.interval import intervals
from mlmodelscope.measure.rule import ScoreError

THEIRS = {"ndcg10": "ndcg_cut_10", "retrieval-map": "map"}
THEIRS |= {f"recall{each}": f"recall_{each}" for each in (1, 5, 10, 100)}


class World:
    """Queries and documents whose embeddings are small whole numbers, so that many similarities are equal."""

    def __init__(self, seed: int, queries: int = 12, documents: int = 150, size: int = 4) -> None:
        chance = np.random.default_rng(seed)
        self.queries = chance.integers(-2, 3, (queries, size)).astype(float)
        self.documents = chance.integers(-2, 3, (documents, size)).astype(float)
        for vectors in (self.queries, self.documents):
            vectors[~vectors.any(axis=1), 0] = 1
        self.ids = [f"d{at}" for at in chance.permutation(documents)]
        self.relevant = [
            {self.ids[at]: int(chance.integers(1, 4)) for at in chance.choice(documents, 1 + place % 7, replace=False)}
            for place in range(queries)
        ]
        self.relevant[0]["nowhere"] = 2  # judged, and not among the documents

    def scores(self, **options: Any) -> list[bytes]:
        targets: list[tuple[Any, np.ndarray]] = [
            ({"role": "query", "id": f"q{at}", "relevant": self.relevant[at]}, vector)
            for at, vector in enumerate(self.queries)
        ]
        targets += [
            ({"role": "document", "id": name}, each) for name, each in zip(self.ids, self.documents, strict=True)
        ]
        return [RULE.score({"values": vector}, {}, target, options) for target, vector in targets]

    def similarities(self, kind: str) -> np.ndarray:
        queries, documents = self.queries, self.documents
        if kind == "euclidean":
            return -np.linalg.norm(queries[:, None] - documents[None], axis=2)
        if kind == "cosine":
            queries, documents = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in (queries, documents))
        return queries @ documents.T

    def theirs(self, kind: str) -> dict[str, dict[str, float]]:
        """As trec_eval measures each query."""
        alike = self.similarities(kind).astype(np.float32)
        run = {
            f"q{at}": {name: float(each) for name, each in zip(self.ids, row, strict=True)}
            for at, row in enumerate(alike)
        }
        judged = {f"q{at}": dict(each) for at, each in enumerate(self.relevant)}
        wanted = {"ndcg_cut.10", "map", "recall.1,5,10,100", "recip_rank"}
        found: dict[str, dict[str, float]] = pytrec_eval.RelevanceEvaluator(judged, wanted).evaluate(run)
        return found


@pytest.mark.parametrize("kind", ["cosine", "dot", "euclidean"])
@pytest.mark.parametrize("seed", range(4))
def test_random_rankings_give_the_numbers_of_trec_eval(seed: int, kind: str) -> None:
    world = World(seed)
    found, theirs = RULE.numbers(world.scores(similarity=kind), MEASURES, None), world.theirs(kind).values()
    for name, other in THEIRS.items():
        assert found[name] == pytest.approx(np.mean([each[other] for each in theirs]), abs=1e-12), name
    ranks = [each["recip_rank"] if each["recip_rank"] >= 0.1 else 0.0 for each in theirs]
    assert found["mrr10"] == pytest.approx(np.mean(ranks), abs=1e-12)


def test_of_equal_similarities_the_greater_id_comes_first() -> None:
    world = World(0, queries=1, documents=3)
    world.documents[:], world.ids, world.relevant = 1.0, ["a", "c", "b"], [{"b": 1}]
    assert RULE.numbers(world.scores(), ["mrr10"], None) == {"mrr10": 0.5}
    assert world.theirs("cosine")["q0"]["recip_rank"] == 0.5


def test_a_document_with_the_id_of_the_query_can_be_skipped() -> None:
    world = World(0, queries=1, documents=3)
    world.queries[:], world.documents[:] = 1.0, [[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0]]
    world.ids, world.relevant = ["q0", "x", "y"], [{"x": 1}]
    assert RULE.numbers(world.scores(), ["mrr10"], None) == {"mrr10": 0.5}
    assert RULE.numbers(world.scores(same_id="skip"), ["mrr10"], None) == {"mrr10": 1.0}


def test_weights_count_queries_and_leave_documents_alone() -> None:
    world = World(3)
    scores, chance = world.scores(), np.random.default_rng(1)
    weights = chance.integers(0, 3, len(scores)).astype(float)
    own = [each["ndcg_cut_10"] for each in world.theirs("cosine").values()]
    found = RULE.numbers(scores, ["ndcg10"], weights)["ndcg10"]
    assert found == pytest.approx(np.average(own, weights=weights[: len(own)]), abs=1e-12)
    weights[: len(own)] = 0
    assert RULE.numbers(scores, MEASURES, weights) == {}


def test_the_interval_is_that_of_a_mean_over_queries() -> None:
    world = World(2, queries=6)
    scores = world.scores()
    found = intervals(RULE, scores, RULE.numbers(scores, ["ndcg10"], None))["ndcg10"]
    own = [each["ndcg_cut_10"] for each in world.theirs("cosine").values()]
    half = 2.5705818366147395 * np.std(own, ddof=1) / np.sqrt(6)  # Student's t of five degrees of freedom
    assert found[2] - found[0] == pytest.approx(half, rel=1e-6)


def test_details_list_the_worst_queries_first() -> None:
    found = RULE.details(World(1).scores())
    values = [each["ndcg10"] for each in found["queries"]]
    assert values == sorted(values) and len(values) == 12 and found["documents"] == 150


@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean"])
def test_the_worst_queries_keep_their_best_documents_in_order(similarity: str) -> None:
    world = World(3, queries=30, documents=60)
    found = RULE.details(world.scores(similarity=similarity))["queries"]
    assert [len(each.get("best", ())) for each in found] == [10] * 24 + [0] * 6
    alike = world.similarities(similarity)
    for each in found[:24]:
        own, at = alike[int(each["id"][1:])], [world.ids.index(one["id"]) for one in each["best"]]
        told = [one["similarity"] for one in each["best"]]
        assert told == sorted(told, reverse=True) == pytest.approx(sorted(own, reverse=True)[:10], rel=1e-5)
        assert told == pytest.approx(own[at], rel=1e-5)
        gains = world.relevant[int(each["id"][1:])]
        assert [one["gain"] for one in each["best"]] == [gains.get(one["id"], 0) for one in each["best"]]
        named = {one["id"] for one in (*each["best"], *each["missed"])}
        assert all(one["rank"] > 10 for one in each["missed"]) and each["relevant"] == len(gains)
        assert len(each["missed"]) == 5 or set(gains) - {"nowhere"} <= named


def test_a_skipped_document_and_equal_ones_stand_where_trec_eval_has_them() -> None:
    def score(role: str, name: str, values: list[float], **more: Any) -> bytes:
        target = {"role": role, "id": name, **more}
        return RULE.score({"values": np.array(values)}, {}, target, {"same_id": "skip"})

    scores = [score("query", "a", [1, 0], relevant={"b": 1.0, "gone": 1.0})]
    scores += [score("document", name, [1, 0]) for name in ("a", "b", "c")]
    (query,) = RULE.details(scores)["queries"]
    assert [each["id"] for each in query["best"]] == ["c", "b"] and query["missed"] == [] and query["relevant"] == 2


@pytest.mark.parametrize("what", ["no documents", "no queries", "other lengths", "twice"])
def test_what_cannot_be_ranked_has_no_numbers_and_a_reason(what: str) -> None:
    world = World(0, queries=2, documents=3)
    scores = world.scores()
    if what == "no documents":
        scores = scores[:2]
    elif what == "no queries":
        scores = scores[2:]
    elif what == "twice":
        scores.append(scores[-1])
    else:
        scores.append(RULE.score({"values": np.ones(9)}, {}, {"role": "document", "id": "z"}, {}))
    assert RULE.numbers(scores, MEASURES, None) == {} and RULE.deviations(scores, MEASURES) == {}
    reason = RULE.reasons(scores, MEASURES)["ndcg10"]
    assert reason.startswith({"other lengths": "not all embeddings", "twice": "two documents"}.get(what, "it needs"))
    assert RULE.details(scores)["queries"] == []


@pytest.mark.parametrize(
    ("target", "vector", "reason"),
    [
        (None, [1.0], "query or a document"),
        ({"role": "both", "id": "x"}, [1.0], "query or a document"),
        ({"role": "document"}, [1.0], "no id"),
        ({"role": "document", "id": "x" * 9999}, [1.0], "no id"),
        ({"role": "query", "id": "x"}, [1.0], "does not name the documents"),
        ({"role": "query", "id": "x", "relevant": {"d": 0}}, [1.0], "no document is relevant"),
        ({"role": "query", "id": "x", "relevant": {"d": "much"}}, [1.0], "a gain is"),
        ({"role": "document", "id": "x"}, [0.0, 0.0], "all zeros"),
        ({"role": "document", "id": "x"}, [1e-60], "all zeros"),
        ({"role": "document", "id": "x"}, [1e60], "32-bit"),
        ({"role": "document", "id": "x"}, [np.nan], "not-a-number"),
        ({"role": "document", "id": "x"}, [], "empty"),
    ],
)
def test_what_is_neither_query_nor_document_fails_its_sample(target: Any, vector: list[float], reason: str) -> None:
    with pytest.raises(ScoreError, match=reason):
        RULE.score({"values": np.array(vector)}, {}, target, {})


def test_zeros_can_be_compared_without_a_direction() -> None:
    assert RULE.score({"values": np.zeros(2)}, {}, {"role": "document", "id": "x"}, {"similarity": "dot"})

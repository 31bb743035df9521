"""What runs the model, the samples being the same: options, threads, batches.

Each needs the model opened anew, so these are tried after all that share one.
"""

from __future__ import annotations

from mlmodelscope.plan.plan import Plan
from mlmodelscope.plugins.predictors import PREDICTORS
from mlmodelscope.replicate.pitfall.pitfall import Edits, pitfall
from mlmodelscope_worker.parameters import ParameterError


@pitfall("threads", "Threads", "second paper, Figure 15", is_about_stack=True, weight=0.1)
def threads(plan: Plan) -> Edits:
    """Sums of several threads are added up in another order, so that the last digits differ."""
    now = plan.predictor.options.get("threads")
    for count in (1, 2):
        if now is not None and count != now:
            yield from with_option(plan, f"{count} thread{'s' if count > 1 else ''}", threads=count)


@pitfall("graph-optimization", "Graph optimisation", is_about_stack=True, weight=0.1)
def graph_optimization(plan: Plan) -> Edits:
    """The framework rewrites the network before it runs: layers are merged, constants folded, approximations taken."""
    now = plan.predictor.options.get("graph_optimization")
    for level in ("disabled", "all"):
        if now is not None and level != now:
            yield from with_option(plan, f"graph optimisation: {level}", graph_optimization=level)


@pitfall("batch-size", "Batch size", is_about_stack=True, weight=0.1)
def batch_size(plan: Plan) -> Edits:
    """Some networks answer otherwise when samples come together: quantised on the fly, or normalised by the batch."""
    for size in (1, 8):
        if size != plan.scenario.batch_size:
            scenario = plan.scenario.model_copy(update={"batch_size": size})
            yield f"batches of {size}", plan.model_copy(update={"scenario": scenario})


@pitfall("execution-provider", "Device", is_about_stack=True, weight=0.1)
def execution_provider(plan: Plan) -> Edits:
    """Other kernels compute the same layers: another device, or another provider of kernels on the same one."""
    now = plan.predictor.options.get("device")
    if now not in (None, "cpu"):
        yield from with_option(plan, "on the CPU", device="cpu")


@pitfall(
    "software-stack",
    "Versions of framework and libraries",
    "first paper, Figure 8; second paper, pitfall 5a",
    is_about_stack=True,
    weight=0.3,
)
def software_stack(plan: Plan) -> Edits:
    """Other versions of the framework, of the image libraries or of NumPy compute other numbers.

    Which stacks are tried must be said: `replicate --stacks NAME,NAME`.
    """
    yield from ()


def with_option(plan: Plan, words: str, **options: object) -> Edits:
    assert plan.predictor.name is not None
    try:
        PREDICTORS[plan.predictor.name].resolve({**plan.predictor.options, **plan.predictor.where, **options})
    except ParameterError:
        return
    predictor = plan.predictor.model_copy(update={"options": {**plan.predictor.options, **options}})
    yield words, plan.model_copy(update={"predictor": predictor})

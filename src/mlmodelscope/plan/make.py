"""Manifests and options become a plan, or an exact reason why not. Nothing is fetched and nothing is run here."""

from __future__ import annotations

from mlmodelscope.errors import PlanError, UsageError
from mlmodelscope.manifest.schema import DatasetManifest, HardwareManifest, Manifest, ModelManifest, SoftwareManifest
from mlmodelscope.plan.dataset import plan_dataset
from mlmodelscope.plan.file import Pins
from mlmodelscope.plan.framework import choose_framework, find_predictor, needs_framework
from mlmodelscope.plan.input import notes_on_inputs, plan_inputs
from mlmodelscope.plan.instruction_set import limited, unmet_settings
from mlmodelscope.plan.language import planned_task
from mlmodelscope.plan.match import MachineFacts, unmet
from mlmodelscope.plan.model import context_of, plan_functions, plan_model
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.output import plan_answer, plan_generation, plan_measure, plan_outputs
from mlmodelscope.plan.pairing import Classes, check_manifests
from mlmodelscope.plan.plan import Plan, PlannedManifest, Scenario
from mlmodelscope.plan.plugins import with_plugins
from mlmodelscope.plan.predictor import ELSEWHERE, choose_threads, plan_predictor
from mlmodelscope.plan.stack import StackDescription, notes_on_stack, plan_stack
from mlmodelscope.plan.training import plan_training


def refuse_early(
    model: ModelManifest,
    dataset: DatasetManifest,
    options: Options,
    *,
    software: SoftwareManifest | None = None,
    hardware: HardwareManifest | None = None,
    machine: MachineFacts | None = None,
) -> None:
    """All that `make_plan` refuses without looking into a stack: before one is built, or a file is fetched."""
    framework = choose_framework(model, software)
    predictor = None
    if needs_framework(model, framework) and framework is not None:
        predictor = find_predictor(model, framework)
    check_manifests(model, dataset, None)
    _refuse_machine(model, hardware, machine, is_elsewhere=predictor in ELSEWHERE)
    plan_inputs(model, dataset)
    planned_task(model, dataset)
    plan_outputs(model, dataset)
    plan_generation(model)
    _plan_scenario(options)
    if predictor is not None:
        plan_predictor(model, predictor, options, choose_threads(options, hardware))


def make_plan(
    model: ModelManifest,
    dataset: DatasetManifest,
    options: Options,
    stack: StackDescription,
    pins: Pins,
    *,
    software: SoftwareManifest | None = None,
    hardware: HardwareManifest | None = None,
    machine: MachineFacts | None = None,
    classes: Classes | None = None,
) -> Plan:
    """Resolve every default and constraint; `classes` is what is known of them beyond the manifests."""
    warnings = check_manifests(model, dataset, classes)
    framework = choose_framework(model, software)
    predictor = find_predictor(model, framework) if needs_framework(model, framework) else None
    _refuse_machine(model, hardware, machine, is_elsewhere=predictor in ELSEWHERE)
    inputs = plan_inputs(model, dataset)
    task = planned_task(model, dataset)
    functions = {**plan_functions(model), **plan_functions(dataset)}
    steps = (*(step for each in inputs for step in each.steps), *model.answer)
    planned_stack = plan_stack(
        model, framework, predictor, steps, stack, software, bool(functions), options.relax_framework
    )
    planned_stack = limited(planned_stack, predictor, hardware)
    plan = Plan(
        task=task,
        job_type=model.job_type,
        model=plan_model(model, pins),
        inputs=inputs,
        outputs=plan_outputs(model, dataset),
        generation=plan_generation(model),
        answer=plan_answer(model, options, pins),
        measure=plan_measure(task, model, dataset),
        dataset=plan_dataset(dataset, options, pins, task),
        predictor=plan_predictor(model, predictor, options, choose_threads(options, hardware)),
        stack=planned_stack,
        scenario=_plan_scenario(options),
        seed=options.seed,
        functions=functions,
        context=context_of(model) if functions else {},
        training=plan_training(model, options, inputs, choose_threads(options, hardware)),
        hyperparameters={**model.hyperparameters, **options.hyperparameters},
        setup=hardware.setup if hardware else None,
        settings=hardware.settings if hardware else None,
        claims=model.claims,
        warnings=(*warnings, *notes_on_inputs(model), *notes_on_stack(model, planned_stack)),
        manifests=_manifests(model=model, dataset=dataset, software=software, hardware=hardware),
    )
    return with_plugins(plan)


def _refuse_machine(
    model: ModelManifest, hardware: HardwareManifest | None, machine: MachineFacts | None, is_elsewhere: bool
) -> None:
    if machine is None:
        return
    reasons = [*unmet(hardware, machine), *unmet_settings(hardware, machine)] if hardware else []
    required = () if is_elsewhere else model.system_requirements  # what a server runs on cannot be seen from here
    if "gpu" in required and not machine.gpus:
        reasons.append(f"{model.name} has `system_requirements: [gpu]`, there is no GPU")
    for other in ("fpga", "tpu"):
        if other in required:
            reasons.append(f"{model.name} has `system_requirements: [{other}]`, which cannot be seen on this machine")
    if reasons:
        asked = hardware.reference if hardware else model.reference
        raise PlanError(f"this machine is not what {asked} asks for\n" + "\n".join(f"- {each}" for each in reasons))


def _plan_scenario(options: Options) -> Scenario:
    if options.batch_size < 1:
        raise UsageError(f"a batch of {options.batch_size} samples makes no sense")
    return Scenario(
        name="offline",
        batch_size=options.batch_size,
        warm_up_runs=options.warm_up_runs,
        timed_runs=options.timed_runs,
        timed_budget_s=options.timed_budget_s,
    )


def _manifests(**manifests: Manifest | None) -> dict[str, PlannedManifest]:
    return {
        aspect: PlannedManifest(
            name=each.name,
            version=each.version,
            id=each.id,
            digest=each.digest,
            split=each.split if isinstance(each, DatasetManifest) else None,
        )
        for aspect, each in manifests.items()
        if each is not None
    }

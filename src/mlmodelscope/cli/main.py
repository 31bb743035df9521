"""The verbs, in the order of the workflow. Each file imports what it needs when it runs, so that help is instant."""

from __future__ import annotations

import typer

from mlmodelscope.cli import (
    agent,
    analyze,
    bench,
    check,
    compare,
    convert,
    datasets,
    db,
    doctor,
    evaluate,
    gc,
    hub,
    init,
    keys,
    log,
    machine,
    models,
    overview,
    pitfalls,
    plan,
    plugins,
    predict,
    profile,
    records,
    replay,
    replicate,
    report,
    schema,
    sensitivity,
    serve,
    show,
    stacks,
    study,
    token,
    trace,
    train,
    trust,
)

app = typer.Typer(
    name="mlmodelscope",
    help="Check a shared model's claims: repeatable evaluation from text manifests, with statistics.",
    epilog="Exit codes: 0 done, 1 it failed (the message says why), 2 wrong usage, 3 done but some samples failed, "
    "130 interrupted. With --server URL (and --token, or MLMODELSCOPE_SERVER and MLMODELSCOPE_TOKEN) most verbs work "
    "on a server; those that do not say why.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.callback()
def options(version: bool = typer.Option(False, "--version", "-V", help="Show the version.")) -> None:
    if version:
        from mlmodelscope_worker import __version__

        print(f"mlmodelscope {__version__}")
        raise typer.Exit()


app.command("doctor")(doctor.doctor)
app.command("machine")(machine.machine)
app.command("plugins")(plugins.plugins)
app.command("models")(models.models)
app.command("datasets")(datasets.datasets)
app.command("schema")(schema.schema)
app.command("init")(init.init)
app.command("check")(check.check)
app.command("show")(show.show)
app.command("convert")(convert.convert)
app.command("trust")(trust.trust)
app.add_typer(stacks.app, name="stacks")
app.command("predict")(predict.predict)
app.command("plan")(plan.plan)
app.command("evaluate")(evaluate.evaluate)
app.command("replicate")(replicate.replicate)
app.command("sensitivity")(sensitivity.sensitivity)
app.command("pitfalls")(pitfalls.pitfalls)
app.command("study")(study.study)
app.command("train")(train.train)
app.command("bench")(bench.bench)
app.command("compare")(compare.compare)
app.command("overview")(overview.overview)
app.command("profile")(profile.profile)
app.add_typer(trace.app, name="trace")
app.command("analyze")(analyze.analyze)
app.add_typer(records.app, name="records")
app.command("report")(report.report)
app.command("log")(log.log)
app.command("replay")(replay.replay)
app.command("push")(hub.push)
app.command("pull")(hub.pull)
app.add_typer(keys.app, name="keys")
app.add_typer(db.app, name="db")
app.command("gc")(gc.gc)
app.command("serve")(serve.serve)
app.command("agent")(agent.agent)
app.add_typer(token.app, name="token")

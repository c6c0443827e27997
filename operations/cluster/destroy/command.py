"""`trn destroy`: drain, `pulumi destroy` and what to do when it stops, sweep, and a final report."""

import typer

from operations.options import Backups, JsonFile, Stack, Yes


def destroy(stack: Stack = "dev", yes: Yes = False, backups: Backups = False, json_file: JsonFile = None) -> int:
    """Drain, `pulumi destroy`, sweep, and report what is left. Can be run again after any failure. Exits with 1 if something stays.

    Example: trn destroy dev
    """
    from operations.access import access
    from operations.cluster.destroy import run
    from operations.cluster.sweep.run import Sweep
    from operations.cluster.sweep.view import print_plan
    from operations.output import errors, results, write_json
    from operations.program import settings_of
    from operations.stack_file import read_stack_file

    settings = settings_of(read_stack_file(stack))
    progress, console, report = errors(), results(json_file), run.Report()
    if not yes:
        typer.confirm(f"Destroy stack {stack}, cluster {settings.name} in {settings.region}, with its data?", abort=True, err=True)

    def tell(line: str) -> None:
        progress.print(line, markup=False, soft_wrap=True)

    api = access().aws(stack, settings.region)
    run.drain(api, settings.name, report, tell)
    report.tries, report.destroyed = run.pulumi_destroy(stack, access().pulumi(stack).run, tell)
    if report.destroyed:
        sweep = Sweep(api, settings.name, access().pause, tell, with_data=backups)
        plan = sweep.plan()
        print_plan(progress, settings.name, plan)
        report.outcome = sweep.run(plan)
    write_json(run.as_data(report), json_file)
    for line in run.report_lines(report, stack):
        console.print(line, markup=False, soft_wrap=True)
    return 0 if report.is_clean else 1

"""`trn jobs`: all jobs of all kinds in one table."""

from trn.cli.options import JsonFile, Namespace, Stack


def jobs(stack: Stack, namespace: Namespace = None, json_file: JsonFile = None) -> int:
    """Training jobs of all kinds: nodes that run of those wanted, since when, state, and why one waits or has failed.

    Example: trn jobs dev
    """
    from trn.change.occupants import view_of
    from trn.cli.output import results, write_json
    from trn.kubernetes.jobs.table import JobsReport, rows, table

    view, place = view_of(stack, namespace)
    found = rows(view)
    write_json(JobsReport(jobs=tuple(found)), json_file)
    console = results(json_file)
    if found:
        console.print(table(found))
    else:
        console.print(f"there are no jobs in {place}", markup=False, soft_wrap=True)
    return 0

"""`trn status`: look at everything, print, write the JUnit file, say the verdict."""

from trn.cli.options import JsonFile, Junit, Stack


def status(stack: Stack, junit: Junit = None, json_file: JsonFile = None) -> int:
    """Whether a cluster that is up has what it should: nodes, devices, EFA, queues, etcd, file system. Exits with 1 where anything fails.

    Reads only, starts no pod. A check that could not be made is a failure; what is off in the configuration is named and skipped.

    Example: trn status dev --junit build/status.xml
    """
    from trn.change.clients import access
    from trn.change.cluster import cluster_of
    from trn.cli.findings import exit_code, print_findings
    from trn.cli.junit import write_junit
    from trn.cli.output import results, tracked, write_json
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.running.status.checks import CHECKS, StatusReport, findings_of
    from trn.running.subject import Subject

    settings = settings_of(read_stack_file(stack))
    api = access().aws(stack, settings.region)
    subject = Subject(settings, api, cluster_of(api, settings.name))
    findings = [finding for name in tracked(list(CHECKS), "looking") for finding in findings_of(subject, name)]
    good = exit_code(findings) == 0
    write_json(StatusReport(stack=stack, healthy=good, findings=tuple(findings)), json_file)
    if junit:
        write_junit(findings, f"trn status {stack}", junit)
    console = results(json_file)
    print_findings(console, findings)
    console.print(f"{settings.name} {'is as it should be' if good else 'is not as it should be'}", markup=False)
    return exit_code(findings)

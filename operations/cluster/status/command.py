"""`trn status`: look at everything, print, write the JUnit file, say the verdict."""

from operations.options import JsonFile, Junit, Stack


def status(stack: Stack, junit: Junit = None, json_file: JsonFile = None) -> int:
    """Whether a cluster that is up has what it should: nodes, devices, EFA, queues, etcd, file system. Exits with 1 where anything fails.

    Reads only, starts no pod. A check that could not be made is a failure; what is off in the configuration is named and skipped.

    Example: trn status dev --junit build/status.xml
    """
    from operations.access import access
    from operations.cluster.status.checks import CHECKS, findings_of
    from operations.cluster.status.subject import Subject
    from operations.findings import exit_code, print_findings
    from operations.junit import write_junit
    from operations.kube.cluster import cluster_of
    from operations.output import results, tracked, write_json
    from operations.program import settings_of
    from operations.stack_file import read_stack_file

    settings = settings_of(read_stack_file(stack))
    api = access().aws(stack, settings.region)
    subject = Subject(settings, api, cluster_of(api, settings.name))
    findings = [finding for name in tracked(list(CHECKS), "looking") for finding in findings_of(subject, name)]
    good = exit_code(findings) == 0
    write_json({"stack": stack, "healthy": good, "findings": findings}, json_file)
    if junit:
        write_junit(findings, f"trn status {stack}", junit)
    console = results(json_file)
    print_findings(console, findings)
    console.print(f"{settings.name} {'is as it should be' if good else 'is not as it should be'}", markup=False)
    return exit_code(findings)

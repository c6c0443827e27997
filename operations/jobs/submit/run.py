"""A rendered job against one cluster: looked up, shown, judged by the server, made."""

from collections.abc import Callable
from pathlib import Path

from operations.findings import exit_code, print_findings
from operations.jobs.cost import cost_of
from operations.jobs.objects import reference
from operations.jobs.rendering import Rendered
from operations.jobs.submit import apply, preflight
from operations.kube.api import Kubernetes
from operations.output import errors, results, write_json


def submit_to(
    found: Rendered, kubernetes: Kubernetes, has_image: preflight.HasImage, refuse_change: Callable[[], None], json_file: Path | None
) -> int:
    """Submit it. Exit code 1, and nothing made, where a look into the cluster says that it cannot run.

    `has_image`: whether there is an image; None where that cannot be known. `refuse_change`: raises where the cluster has become another one meanwhile. Raises CommandError for what the server refuses.
    """
    job, site, progress = found.plan.job, found.plan.site, errors()
    looked, cost = preflight.findings(found, kubernetes, has_image), cost_of(found.plan)
    print_findings(progress, looked)
    progress.print(f"{job.name}: {cost.text}", markup=False, soft_wrap=True)
    told = {"job": job.name, "cluster": site.cluster, "namespace": site.namespace, "launcher": found.launcher.name}
    priced = {"usdPerHour": cost.usd_per_hour, "usdAtMost": cost.usd_at_most}
    objects = [reference(body) for body in found.objects]
    if exit_code(looked):
        write_json({**told, "submitted": False, "findings": looked, "objects": objects, **priced}, json_file)
        progress.print("nothing was submitted", markup=False)
        return 1
    apply.dry_run(found.objects, kubernetes)
    refuse_change()
    made = apply.submit(found.objects, kubernetes, lambda line: progress.print(line, markup=False))
    uid = made["metadata"]["uid"]
    write_json({**told, "submitted": True, "uid": uid, "findings": looked, "objects": objects, **priced}, json_file)
    console = results(json_file)
    console.print(f"{job.name} is submitted to {site.cluster}; to follow it:", markup=False, soft_wrap=True)
    for command in ("watch", "why", "logs", "cancel"):
        console.print(f"  trn {command} {site.stack} {job.name}", markup=False, soft_wrap=True)
    return 0

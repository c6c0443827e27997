"""A look at the jobs of a stack's cluster, from the stack's name on."""

from stacks.config import parse_settings
from trn.change.clients import access
from trn.change.cluster import cluster_of
from trn.engine.job_site import site_of
from trn.engine.stack_file import read_stack_file
from trn.kubernetes.jobs.look import View, look, look_everywhere


def view_of(stack: str, namespace: str | None) -> tuple[View, str]:
    """What is there now, and the namespace that was looked at. Raises CommandError where there is no such stack or cluster."""
    stack_file = read_stack_file(stack)
    settings = parse_settings(stack_file.configuration, stack_file.stack, rehearsal=True)
    kubernetes = cluster_of(access().aws(stack, settings.region), settings.name)
    place = namespace or settings.training.namespace
    return look(kubernetes, place, site_of(settings, stack)), place


def views_of(stack: str) -> list[View]:
    """What is there now in all namespaces with pods, and in the stack's own. Raises CommandError as `view_of` does."""
    stack_file = read_stack_file(stack)
    settings = parse_settings(stack_file.configuration, stack_file.stack, rehearsal=True)
    kubernetes = cluster_of(access().aws(stack, settings.region), settings.name)
    return look_everywhere(kubernetes, [settings.training.namespace])

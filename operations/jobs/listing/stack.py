"""A look at the jobs of a stack's cluster, from the stack's name on."""

from operations.access import access
from operations.jobs.listing.look import View, look, look_everywhere
from operations.jobs.site import site_of
from operations.kube.cluster import cluster_of
from operations.stack_file import read_stack_file
from stacks.config import parse_settings


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

"""A person at a terminal, and the site of a stack as a command reaches it: on AWS or in practice."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trn.change.asking import consent
from trn.change.clients import access
from trn.change.cluster import cluster_of
from trn.change.consent import Person
from trn.change.ownership import StackCluster
from trn.change.whose import Site
from trn.cli.output import errors, gauge, results


@contextmanager
def terminal(
    subject: StackCluster, region: str, waiting: str, json_file: Path | None, state_file: Path | None, *,
    yes: bool, name: str, break_lock: bool,
) -> Iterator[tuple[Site, Person]]:  # fmt: skip
    """Site and person. `waiting`: what the bar says meanwhile."""
    progress, console = errors(), results(json_file)
    api = access().aws(subject.stack, region)

    def tell(what: Any) -> None:
        progress.print(what, markup=False, soft_wrap=True)

    def say(line: Any) -> None:
        console.print(line, markup=False, soft_wrap=True)

    with gauge(waiting, progress) as show:
        yield (
            Site(
                api,
                access().pulumi(subject.stack),
                subject,
                lambda: cluster_of(api, subject.cluster),
                access().pause,
                tell,
                say,
                show,
                state_file,
                break_lock,
                json_file,
            ),
            Person(consent(yes, name), tell),
        )

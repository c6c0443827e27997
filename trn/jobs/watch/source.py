"""Where the lines of a training come from: the logs of its pods, also after their end, or a file."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from facts.typed import typed
from training.metrics_line import MARK
from trn.cli.errors import MISUSE, CommandError
from trn.cli.text_files import marked_lines
from trn.jobs.watch.progress import Hardware, hardware
from trn.kubernetes.claimed import CHIPS
from trn.kubernetes.client import Kubernetes
from trn.kubernetes.jobs.job import FoundJob
from trn.kubernetes.situation import Situation

MOST_READ = 4
"""Pods whose logs are read: the first worker of each node writes the same steps."""
MOST_LOG_BYTES = 1 << 30
"""Of a file; its lines of progress are a small part."""
MOST_LINES = 1_000_000
"""Of progress; a step of a second makes so many in 11 days."""
OVERLAP_S = 60
"""A further look reads the lines of at least so long: the nodes' clocks and this machine's differ."""


@dataclass
class PodLogs:
    """Lines of progress of a job's first pods, kept from look to look."""

    kubernetes: Kubernetes
    find: Callable[[], FoundJob | None]
    """Looks for the job again: a restart gives it other pods. None where it is gone."""
    lines: dict[str, None] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)

    def look(self, every_s: float) -> tuple[list[str], FoundJob | None]:
        """All lines that were seen so far, and the job as it is now."""
        job = self.find()
        if job is None:
            return list(self.lines), None
        started = [pod for pod in job.pods if pod.get("status", {}).get("phase") in ("Running", "Succeeded", "Failed")]
        for pod in started[:MOST_READ]:
            metadata = pod["metadata"]
            key = f"{metadata['name']} {metadata.get('uid', '')}"
            since = f"&sinceSeconds={max(OVERLAP_S, round(every_s * 3))}" if key in self._known else ""
            path = f"/api/v1/namespaces/{job.namespace}/pods/{metadata['name']}/log?container={pod['spec']['containers'][0]['name']}{since}"
            text = self.kubernetes.text(path)
            if text is not None:
                self._known.add(key)
                self.lines.update(dict.fromkeys(line for line in text.splitlines() if MARK in line))
        return list(self.lines), job


def of_file(path: Path) -> list[str]:
    """Lines of progress of a log on disk, or from a pipe. Raises CommandError for one that cannot be read, and for one that is too large."""
    hint = f"name a log, such as one that `{typed('trn logs')}` printed"
    lines = list(
        islice(
            marked_lines(path, MARK, MOST_LOG_BYTES, hint, too_large=f"keep its lines of progress: grep -F '{MARK}' LOG"), MOST_LINES + 1
        )
    )
    if len(lines) > MOST_LINES:
        raise CommandError(f"{path} has more than {MOST_LINES:,} lines of progress", "keep the newest: tail -n 1000000 LOG", code=MISUSE)
    return lines


def hardware_of(situation: Situation) -> Hardware | None:
    """What a job holds, by the node group or pool that its pods name; None where they name none of the stack's."""
    nodes = situation.group_of_nodes
    if nodes is None:
        return None
    chips = next((situation.asks[name] for name in CHIPS if name in situation.asks), None)
    return hardware(nodes.instance, situation.job.wanted, int(chips) if chips is not None else None)

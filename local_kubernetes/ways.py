"""Where the API server of a practice cluster comes from: built here from Go modules, or made by kind, k3d or kwokctl.

A way is what a tool is asked, and nothing else: `made_cluster.py` asks it. Every command names the cluster and, as far as the tool can
write one, a kubeconfig of its own, so that the user's is never touched.

Sources: kind.sigs.k8s.io, Quick Start; k3d.io, Command Tree; docs.k3s.io, `k3s server` (--disable); kwok.sigs.k8s.io, `kwokctl create cluster`.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from local_kubernetes.errors import MISUSE, LocalKubernetesError

NAME_LENGTH_MAX = 32
"""k3d takes no longer names, so that what it makes of them are host names."""
INSTALL = "install Go, https://go.dev/doc/install, or one of kind, k3d and kwokctl"


@dataclass(frozen=True)
class Way:
    """One tool. `{name}` and `{kubeconfig}` stand for the cluster's name and a file of the stack's own."""

    name: str
    """As it is written after `--kubernetes=`, and how its program is called."""
    version: Sequence[str]
    """Arguments that print its version."""
    clusters: Sequence[str] = ()
    """Arguments that print the clusters that it has made, one a line and its name first."""
    create: Sequence[str] = ()
    kubeconfig: Sequence[str] = ()
    """Arguments that print an administrator's kubeconfig."""
    delete: Sequence[str] = ()

    @property
    def makes_clusters(self) -> bool:
        """Whether a tool makes it. Else it is started here, and ends with its processes."""
        return bool(self.create)

    def command(self, arguments: Sequence[str], cluster: str, kubeconfig: Path) -> list[str]:
        """The command line for one cluster."""
        return [self.name, *(word.format(name=cluster, kubeconfig=kubeconfig) for word in arguments)]

    def delete_hint(self, cluster: str) -> str:
        """How to delete a cluster by hand."""
        words = [word.format(name=cluster, kubeconfig="") for word in self.delete if "{kubeconfig}" not in word and word != "--kubeconfig"]
        return " ".join([self.name, *words])


GO = Way("go", ("version",))
KIND = Way(
    "kind",
    ("version",),
    ("get", "clusters"),
    ("create", "cluster", "--name", "{name}", "--kubeconfig", "{kubeconfig}", "--wait", "120s"),
    ("get", "kubeconfig", "--name", "{name}"),
    ("delete", "cluster", "--name", "{name}", "--kubeconfig", "{kubeconfig}"),
)
K3D = Way(
    "k3d",
    ("version",),
    ("cluster", "list", "--no-headers"),
    (
        "cluster", "create", "{name}", "--no-lb", "--wait", "--timeout", "180s",
        "--kubeconfig-update-default=false", "--kubeconfig-switch-context=false",
        # The stack brings its own of these, under the same names.
        *(word for part in ("coredns", "metrics-server", "servicelb", "traefik") for word in ("--k3s-arg", f"--disable={part}@server:*")),
    ),
    ("kubeconfig", "get", "{name}"),
    ("cluster", "delete", "{name}"),
)  # fmt: skip
KWOKCTL = Way(
    "kwokctl",
    ("--version",),
    ("get", "clusters"),
    (
        "create", "cluster", "--name", "{name}", "--kubeconfig", "{kubeconfig}", "--wait", "120s",
        "--secure-port", "--kube-authorization", "--kube-admission",
        # Its own plays every node by its own stages: ours has them.
        "--disable", "kwok-controller",
    ),
    ("get", "kubeconfig", "--name", "{name}"),
    ("delete", "cluster", "--name", "{name}", "--kubeconfig", "{kubeconfig}"),
)  # fmt: skip
WAYS: Sequence[Way] = (GO, KIND, K3D, KWOKCTL)
"""In the order in which they are looked for: the first is most like EKS."""


def named(name: str) -> Way:
    """The way of a name. Raises LocalKubernetesError for any other."""
    for way in WAYS:
        if way.name == name:
            return way
    raise LocalKubernetesError(f"`{name}` is no way to a control plane", f"one of: {', '.join(way.name for way in WAYS)}", code=MISUSE)


def chosen(wanted: str | None, kept: Way | None, there: Callable[[str], bool]) -> Way:
    """The way of a stack: the one that it was brought up with, else the one that is asked for, else the first whose tool is there.

    `there`: whether a program is on PATH. Raises LocalKubernetesError where there is none, and where another one is asked for than it has.
    """
    asked = None if wanted is None else named(wanted)
    if kept is not None:
        if asked is not None and asked != kept:
            wrong = f"the stack's API server is {kept.name}'s, and not {asked.name}'s"
            raise LocalKubernetesError(wrong, "`trn practice down` first; or leave out the name after --kubernetes", code=MISUSE)
        return kept
    if asked is not None:
        if not there(asked.name):
            raise LocalKubernetesError(f"there is no {asked.name} on PATH", f"{INSTALL}; or leave out --kubernetes", code=MISUSE)
        return asked
    for way in WAYS:
        if there(way.name):
            return way
    names = ", ".join(way.name for way in WAYS)
    hint = f"{INSTALL}; or leave out --kubernetes: the account then answers for Kubernetes itself"
    raise LocalKubernetesError(f"there is nothing to make a control plane with: none of {names} is on PATH", hint, code=MISUSE)


def cluster_name(stack: str, folder: Path) -> str:
    """`trn-dev-1a2b3c`: after the stack and its practice folder, the same each time; other folders' stacks of the name have others.

    At most NAME_LENGTH_MAX letters, digits and dashes.
    """
    mark = hashlib.sha256(str(folder).encode()).hexdigest()[:6]
    words = re.sub(r"[^a-z0-9]+", "-", stack.lower()).strip("-") or "stack"
    return f"trn-{words[: NAME_LENGTH_MAX - len('trn--') - len(mark)].rstrip('-')}-{mark}"


def names(printed: str) -> set[str]:
    """Clusters that a listing names: the first word of each line."""
    return {line.split()[0] for line in printed.splitlines() if line.split()}

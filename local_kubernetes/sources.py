"""Manifests of the pinned releases, where Go's module registry has them: a module holds its repository's CRDs and charts.

`folder(module)` downloads into Go's own cache, checked against Go's checksum database, and nothing of it enters the tree.
Raises build.Missing where the registry is out of reach.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from addons.contract import load
from addons.versions import CERT_MANAGER, KARPENTER, KUEUE, MPI_OPERATOR_IMAGE, PROMETHEUS, TRAINER, VOLCANO, Chart
from local_kubernetes.build import FOLDER, OFFLINE, Missing

OPERATOR = "prometheus-operator/prometheus-operator"


def _operator_version() -> str:
    """Of the Prometheus operator that the pinned chart brings: its tag in the contract."""
    (image,) = [str(entry["image"]) for entry in load(PROMETHEUS).images if OPERATOR in str(entry["image"])]
    return image.rpartition(":")[2]


def _jobset_version() -> str:
    """Of the JobSet that the pinned Trainer is built with."""
    lines = (FOLDER / "trainer/go.mod").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.split()[:1] == ["sigs.k8s.io/jobset"])


MODULES: Mapping[str, str] = {
    "github.com/aws/karpenter-provider-aws": f"v{KARPENTER.version}",
    "github.com/cert-manager/cert-manager": f"v{CERT_MANAGER.version}",
    "github.com/kubeflow/mpi-operator": f"v{MPI_OPERATOR_IMAGE.rpartition(':')[2]}",
    "github.com/kubeflow/trainer/v2": f"v{TRAINER.version}",
    f"github.com/{OPERATOR}": _operator_version(),
    "sigs.k8s.io/jobset": _jobset_version(),
    "sigs.k8s.io/kueue": f"v{KUEUE.version}",
    "volcano.sh/volcano": f"v{VOLCANO.version}",
}
"""Modules at the versions that the program installs."""
CRDS: Mapping[str, str] = {
    "github.com/aws/karpenter-provider-aws": "pkg/apis/crds/*.yaml",
    "github.com/cert-manager/cert-manager": "deploy/crds/*.yaml",
    "github.com/kubeflow/mpi-operator": "manifests/base/kubeflow.org_mpijobs.yaml",
    "github.com/kubeflow/trainer/v2": "manifests/base/crds/trainer.*.yaml",
    f"github.com/{OPERATOR}": "example/prometheus-operator-crd/*.yaml",
    "sigs.k8s.io/jobset": "config/components/crd/bases/*.yaml",
    "sigs.k8s.io/kueue": "config/components/crd/bases/*.yaml",
    "volcano.sh/volcano": "installer/helm/chart/volcano/**/crd/bases/*.yaml",
}
"""Where a module has the CRDs of its chart or manifest."""
GROUPS: Mapping[str, str] = {
    "acme.cert-manager.io": "github.com/cert-manager/cert-manager",
    "autoscaling.x-k8s.io": "github.com/aws/karpenter-provider-aws",
    "batch.volcano.sh": "volcano.sh/volcano",
    "bus.volcano.sh": "volcano.sh/volcano",
    "cert-manager.io": "github.com/cert-manager/cert-manager",
    "config.volcano.sh": "volcano.sh/volcano",
    "flow.volcano.sh": "volcano.sh/volcano",
    "jobset.x-k8s.io": "sigs.k8s.io/jobset",
    "karpenter.k8s.aws": "github.com/aws/karpenter-provider-aws",
    "karpenter.sh": "github.com/aws/karpenter-provider-aws",
    "kubeflow.org": "github.com/kubeflow/mpi-operator",
    "kueue.x-k8s.io": "sigs.k8s.io/kueue",
    "monitoring.coreos.com": f"github.com/{OPERATOR}",
    "nodeinfo.volcano.sh": "volcano.sh/volcano",
    "scheduling.volcano.sh": "volcano.sh/volcano",
    "shard.volcano.sh": "volcano.sh/volcano",
    "topology.volcano.sh": "volcano.sh/volcano",
    "trainer.kubeflow.org": "github.com/kubeflow/trainer/v2",
}
"""Which of these modules has the CRDs of a group: only those that are asked for are downloaded."""
CHARTS: Mapping[Chart, tuple[str, str]] = {
    KUEUE: ("sigs.k8s.io/kueue", "charts/kueue"),
    TRAINER: ("github.com/kubeflow/trainer/v2", "charts/kubeflow-trainer"),
    VOLCANO: ("volcano.sh/volcano", "installer/helm/chart/volcano"),
}
"""Pinned charts that a module has whole, at the pinned version."""


@cache
def folder(module: str) -> Path:
    """A module's files at its pin, read-only. Raises Missing."""
    go = shutil.which("go")
    if go is None:
        raise Missing("there is no Go to download manifests with")
    with tempfile.TemporaryDirectory() as elsewhere:
        # Outside of any module: its own requirements do not matter here.
        command = [go, "mod", "download", "-json", f"{module}@{MODULES[module]}"]
        done = subprocess.run(command, cwd=elsewhere, env=os.environ | {"GOFLAGS": ""}, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout or "{}")
    if "Dir" in found:
        return Path(found["Dir"])
    said = found.get("Error") or done.stderr
    if any(words in said for words in OFFLINE):
        raise Missing(f"{module} cannot be had here: {said.strip()}")
    raise RuntimeError(said)

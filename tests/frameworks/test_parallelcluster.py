"""AWS ParallelCluster's own schema loads the configuration that the launcher of its name makes."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.training.test_documents import ACCOUNT_KEYS, OUTSIDE, documents
from training.account import parse_account

pytestmark = pytest.mark.frameworks

LOAD = """
import sys, yaml
from pcluster.schemas.cluster_schema import ClusterSchema
found = ClusterSchema(cluster_name="c").load(yaml.safe_load(sys.stdin.read()))
(queue,) = found.scheduling.queues
(resource,) = queue.compute_resources
(storage,) = found.shared_storage or [None]
print(resource.instance_types[0], resource.max_count, resource.efa.enabled, queue.networking.placement_group.enabled, storage and storage.mount_dir)
"""


def load(python: Path, text: str) -> subprocess.CompletedProcess[str]:
    """What the library makes of a configuration."""
    return subprocess.run([python, "-c", LOAD], input=text, capture_output=True, text=True, env={"AWS_DEFAULT_REGION": "us-west-2"})


def test_the_configuration_is_one_of_parallelclusters(python):
    """Keys, types and patterns; what only AWS knows, such as whether the subnet is there, it asks when the cluster is made."""
    cluster, _ = documents("parallelcluster")
    done = load(python("parallelcluster"), cluster.text)
    assert (done.returncode, done.stdout) == (0, "trn1.32xlarge 2 True True /fsx\n"), done.stderr


def test_a_placement_group_and_a_key_of_the_users_are_taken(python):
    """Both by name."""
    account = parse_account({**ACCOUNT_KEYS, "placementGroup": "training", "keyName": "mine"})
    cluster, _ = documents("parallelcluster", replace(OUTSIDE, account=account))
    assert load(python("parallelcluster"), cluster.text).returncode == 0


def test_the_schema_refuses_what_is_wrong(python):
    """One that always passes would show nothing."""
    cluster, _ = documents("parallelcluster")
    done = load(python("parallelcluster"), cluster.text.replace("MaxCount", "MaximumCount"))
    assert "MaximumCount" in done.stderr

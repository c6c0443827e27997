"""kubectl for what needs a stream: a shell, or a command in a pod."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trn.aws.api import Api
from trn.change.cluster import kubeconfig_of


@contextmanager
def kubectl(api: Api, cluster: str, namespace: str) -> Iterator[list[str]]:
    """First words of a command line, with a kubeconfig of its own that holds no secret and is deleted when the block ends."""
    made = kubeconfig_of(api, cluster)
    with tempfile.TemporaryDirectory(prefix="trn-") as folder:
        file = Path(folder) / "kubeconfig"
        file.write_text(json.dumps(made))
        # kubectl warns of one that others can read.
        file.chmod(0o600)
        yield ["kubectl", "--kubeconfig", os.fspath(file), "--namespace", namespace]

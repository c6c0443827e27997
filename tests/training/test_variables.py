"""The entry script and the recipes read the variables that pods have, by the same names."""

import re
from dataclasses import replace

from tests.training.sites import SITE, job
from training.environment import environment
from training.payload import FOLDER, Source
from training.plan import plan

EVERYTHING = {
    "parallel": {"tensor": 2},
    "checkpoints": {"path": "/fsx/c"},
    "data": {"path": "/fsx/d"},
    "restarts": {"hangAfter": "1h"},
    "rendezvous": "etcd",
    "start": "tensorflow",
    "nodes": 4,
    "parameterServers": 1,
}
OF_LAUNCHERS = {"TRN_ADDRESS", "TRN_NODE_RANK"}
"""Set by launchers whose own variables do not say where a node stands."""
NOT_READ = {"TRN_TOOLCHAIN"}
"""For scripts of users, and to be seen in a pod."""


def test_what_is_read_is_what_is_set():
    """Two spellings of one variable fail without a word: it is not set, and that means the default."""
    files = [*FOLDER.glob("entry/*.py"), *FOLDER.glob("recipes/*/*.py")]
    read = {name for path in files for name in re.findall(r"\bTRN_[A-Z_]*[A-Z]\b", path.read_text())}
    source = Source(("train.py",), image="r.example/own:1")
    found = environment(plan(job(**EVERYTHING), replace(SITE, source=source)))
    assert read - OF_LAUNCHERS == {name for name in found if name.startswith("TRN_")} - NOT_READ

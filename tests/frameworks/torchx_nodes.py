"""A TorchX component: the entry script on so many nodes, which TorchX's local scheduler starts as processes."""

import torchx.specs as specs  # pyright: ignore[reportMissingImports] - is in an environment of its own


def nodes(*words: str, python: str, scripts: str, checkpoints: str, count: int = 2, port: int = 29400, etcd: str = "") -> specs.AppDef:
    """One role with a replica for each node.

    Args:
        words: behind the training script
        python: interpreter with the framework
        scripts: folder with the entry script and the recipe
        checkpoints: folder of the job's checkpoints
        count: nodes, with a worker each
        port: where they meet
        etcd: endpoint of etcd, to meet there
    """
    environment = {
        "TRN_JOB": "bert",
        "TRN_NODES": str(count),
        "TRN_WORKERS_PER_NODE": "1",
        "TRN_START": "torchrun",
        "TRN_PORT": str(port),
        "TRN_ADDRESS": "127.0.0.1",
        "TRN_NODE_RANK": specs.macros.replica_id,
        "TRN_CHECKPOINTS": checkpoints,
        "OMP_NUM_THREADS": "1",
        **({"TRN_RENDEZVOUS": "etcd", "TRN_ETCD_ENDPOINT": etcd} if etcd else {}),
    }
    arguments = [f"{scripts}/entry.py", "--", python, f"{scripts}/train.py", *words]
    role = specs.Role("worker", "", entrypoint=python, args=arguments, env=environment, num_replicas=count)
    return specs.AppDef("bert", [role])

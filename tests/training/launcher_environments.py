"""Variables that each launcher sets in a pod, written down from its source or documentation, for the job `bert` of two nodes.

None was recorded in a cluster: where names were seen in a run elsewhere, the comment says so.

One case: name, variables of one node, what `read` must find (launcher, rank, count, address, port, worker).
"""

TWO = {"TRN_JOB": "bert", "TRN_NODES": "2", "TRN_WORKERS_PER_NODE": "32", "TRN_PORT": "29400"}
"""What every pod of ours has."""
_TF_CLUSTER = '"cluster":{"chief":["bert-chief-0.training.svc:2222"],"worker":["bert-worker-0.training.svc:2222"]}'
_TF_CONFIG = "{" + _TF_CLUSTER + ',"task":{"type":"worker","index":0},"environment":"cloud"}'

CASES: list[tuple[str, dict[str, str], tuple[str, int, int, str, int, int | None]]] = [
    (
        # volcano-sh/volcano pkg/controllers/job/plugins/{env,svc}, v1.13: one task `worker` with two replicas.
        "volcano",
        {"HOSTNAME": "bert-worker-1", "VC_TASK_INDEX": "1", "VK_TASK_INDEX": "1", "VC_WORKER_NUM": "2", "VC_WORKER_HOSTS": "bert-worker-0.bert,bert-worker-1.bert"},
        ("volcano", 1, 2, "bert-worker-0.bert", 29400, None),
    ),
    (
        # meta-pytorch/torchx schedulers/kubernetes_scheduler.py on Volcano: a task for each node. The names of
        # the tasks are TorchX's own; what Volcano sets from them follows from its source and was seen in no cluster.
        "torchx",
        {
            "HOSTNAME": "bert-x1-worker-1-0", "VC_TASK_INDEX": "0", "VC_WORKER_0_NUM": "1", "VC_WORKER_1_NUM": "1", "TORCHX_JOB_ID": "kubernetes://torchx/bert-x1",
            "VC_WORKER_0_HOSTS": "bert-x1-worker-0-0.bert-x1", "VC_WORKER_1_HOSTS": "bert-x1-worker-1-0.bert-x1",
        },
        ("volcano", 1, 2, "bert-x1-worker-0-0.bert-x1", 29400, None),
    ),
    (
        # kubeflow/trainer pkg/runtime/framework/plugins/torch/torch.go and pkg/constants; JobSet beneath sets the completion index.
        "trainjob torch",
        {
            "HOSTNAME": "bert-node-0-1", "JOB_COMPLETION_INDEX": "1", "PET_NNODES": "2", "PET_NPROC_PER_NODE": "32", "PET_NODE_RANK": "1",
            "PET_MASTER_ADDR": "bert-node-0-0.bert", "PET_MASTER_PORT": "29500",
        },
        ("torch", 1, 2, "bert-node-0-0.bert", 29400, None),
    ),
    (
        # kubeflow/trainer pkg/runtime/framework/plugins/jax/jax.go.
        "trainjob jax",
        {
            "HOSTNAME": "bert-node-0-1", "JOB_COMPLETION_INDEX": "1", "JAX_NUM_PROCESSES": "2", "JAX_PROCESS_ID": "1",
            "JAX_COORDINATOR_ADDRESS": "bert-node-0-0.bert:29500", "JAX_COORDINATOR_PORT": "29500", "JAX_DISTRIBUTED_BACKEND": "gloo",
        },
        ("jax", 1, 2, "bert-node-0-0.bert", 29400, None),
    ),
    (
        # kubeflow/training-operator v1.9 pkg/controller.v1/pytorch/{envvar,master}.go; RANK and WORLD_SIZE count nodes there.
        "pytorchjob worker",
        {
            "HOSTNAME": "bert-worker-0", "PYTHONUNBUFFERED": "1", "MASTER_ADDR": "bert-master-0", "MASTER_PORT": "23456", "PET_MASTER_ADDR": "bert-master-0",
            "PET_MASTER_PORT": "23456", "WORLD_SIZE": "2", "RANK": "1", "PET_NODE_RANK": "1", "PET_NNODES": "2", "PET_NPROC_PER_NODE": "32",
        },
        ("torch", 1, 2, "bert-master-0", 29400, None),
    ),
    (
        # kubernetes-sigs/jobset: host names JOBSET-REPLICATEDJOB-INDEX-POD, service of the JobSet's name; Job controller sets the index.
        "jobset",
        {"HOSTNAME": "bert-worker-0-1", "JOB_COMPLETION_INDEX": "1"},
        ("indexed", 1, 2, "bert-worker-0-0.bert", 29400, None),
    ),
    (
        # Kubernetes, Indexed Job with pod-to-pod communication: host names JOB-INDEX.
        "indexed job",
        {"HOSTNAME": "bert-1", "JOB_COMPLETION_INDEX": "1"},
        ("indexed", 1, 2, "bert-0.bert", 29400, None),
    ),
    (
        # kubeflow/training-operator pkg/controller.v1/tensorflow/tensorflow.go.
        "tfjob",
        {"HOSTNAME": "bert-worker-0", "TF_CONFIG": _TF_CONFIG},
        ("tfjob", 1, 2, "bert-chief-0.training.svc", 29400, None),
    ),
    (
        # Open MPI 5, mpirun(1), variables of a rank, as -np 64 on two hosts of 32 slots gives them; the role is kubeflow/mpi-operator's. The
        # names were seen with mpirun on one machine, two nodes and the operator's pods were not.
        "mpi, a rank for each worker",
        {
            "HOSTNAME": "bert-worker-1", "K_MPI_JOB_ROLE": "worker", "OMPI_COMM_WORLD_RANK": "37", "OMPI_COMM_WORLD_SIZE": "64",
            "OMPI_COMM_WORLD_LOCAL_RANK": "5", "OMPI_COMM_WORLD_LOCAL_SIZE": "32", "OMPI_COMM_WORLD_NODE_RANK": "5",
        },
        ("mpi", 1, 2, "bert-worker-0.bert", 29400, 5),
    ),
    (
        "mpi, a rank for each node",
        {
            "HOSTNAME": "bert-worker-1", "K_MPI_JOB_ROLE": "worker", "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2",
            "OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_LOCAL_SIZE": "1",
        },
        ("mpi", 1, 2, "bert-worker-0.bert", 29400, None),
    ),
    (
        # SchedMD Slurm, srun manual page, output environment variables: one task for each node.
        "slurm",
        {
            "SLURM_NODEID": "1", "SLURM_PROCID": "1", "SLURM_LOCALID": "0", "SLURM_NNODES": "2", "SLURM_JOB_NUM_NODES": "2", "SLURM_NTASKS": "2",
            "SLURM_JOB_NODELIST": "trn1-dy-[3,7]", "SLURM_STEP_NODELIST": "trn1-dy-[3,7]", "SLURM_STEP_NUM_NODES": "2", "SLURM_STEP_NUM_TASKS": "2",
        },
        ("slurm", 1, 2, "trn1-dy-3", 29400, None),
    ),
    (
        "slurm, a task for each worker",
        {
            "SLURM_NODEID": "1", "SLURM_PROCID": "40", "SLURM_LOCALID": "8", "SLURM_NNODES": "2", "SLURM_NTASKS": "64", "SLURM_JOB_NODELIST": "trn1-st-[08-09]",
        },
        ("slurm", 1, 2, "trn1-st-08", 29400, 8),
    ),
    (
        # AWS Batch User Guide, multi-node parallel jobs, environment variables; only child nodes have the address.
        "batch, child",
        {
            "AWS_BATCH_JOB_NODE_INDEX": "1", "AWS_BATCH_JOB_MAIN_NODE_INDEX": "0", "AWS_BATCH_JOB_NUM_NODES": "2",
            "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS": "10.0.3.17", "AWS_BATCH_JOB_ID": "1f5d#1",
        },
        ("batch", 1, 2, "10.0.3.17", 29400, None),
    ),
    (
        "batch, main node",
        {"HOSTNAME": "ip-10-0-3-17", "AWS_BATCH_JOB_NODE_INDEX": "0", "AWS_BATCH_JOB_MAIN_NODE_INDEX": "0", "AWS_BATCH_JOB_NUM_NODES": "2"},
        ("batch", 0, 2, "ip-10-0-3-17", 29400, None),
    ),
    (
        "batch, main node is the last",
        {
            "AWS_BATCH_JOB_NODE_INDEX": "0", "AWS_BATCH_JOB_MAIN_NODE_INDEX": "1", "AWS_BATCH_JOB_NUM_NODES": "2",
            "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS": "10.0.3.17",
        },
        ("batch", 1, 2, "10.0.3.17", 29400, None),
    ),
    (
        # aws/sagemaker-training-toolkit ENVIRONMENT_VARIABLES.md; the same two keys are in resourceconfig.json.
        "sagemaker",
        {"SM_HOSTS": '["algo-1","algo-2"]', "SM_CURRENT_HOST": "algo-2", "SM_NUM_GPUS": "0", "SM_NETWORK_INTERFACE_NAME": "eth0"},
        ("sagemaker", 1, 2, "algo-1", 29400, None),
    ),
    (
        # ray-project/kuberay ray-operator/controllers/ray/utils/constant.go: the driver runs on the head, Ray starts the workers.
        "rayjob",
        {"HOSTNAME": "bert-head", "RAY_CLUSTER_NAME": "bert-x7k2p", "RAY_IP": "127.0.0.1", "RAY_PORT": "6379", "RAY_ADDRESS": "127.0.0.1:6379"},
        ("ray", 0, 2, "127.0.0.1", 29400, None),
    ),
    ("local", {"TRN_NODE_RANK": "1", "TRN_ADDRESS": "127.0.0.5"}, ("local", 1, 2, "127.0.0.5", 29400, None)),
]  # fmt: skip

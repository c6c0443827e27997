"""What a node starts for each framework."""

import json

import pytest

from launcher_variables import EntryError, Place
from worker_commands import Settings, plan, settings

COMMAND = ["python3", "/trn/train.py", "--size", "large"]
SECOND = Place("volcano", 1, 2, "bert-worker-0.bert", 29400, ("bert-worker-0.bert", "bert-worker-1.bert"))


def started(place: Place = SECOND, **asked):
    """Processes of a job of 32 workers on each node."""
    return plan(
        place, Settings(**{"job": "bert", "workers": 32, "start": "torchrun", **asked}), COMMAND, {"HOME": "/root"}, "/usr/bin/python3"
    )


def option(process, name: str) -> str:
    """Value of an option on a command line."""
    return process.argv[process.argv.index(name) + 1]


def test_torchrun_is_one_agent_with_all_workers():
    (agent,) = started()
    assert agent.argv[:3] == ("/usr/bin/python3", "-m", "torch.distributed.run")
    assert (option(agent, "--nnodes"), option(agent, "--nproc-per-node"), option(agent, "--node-rank")) == ("2", "32", "1")
    assert agent.argv[-5:] == ("--no-python", *COMMAND)


def test_torchrun_meets_at_the_first_node():
    (agent,) = started()
    assert option(agent, "--rdzv-endpoint") == "bert-worker-0.bert:29400"
    assert option(agent, "--rdzv-conf") == "is_host=false"
    assert option(agent, "--local-addr") == "bert-worker-1.bert"


def test_the_first_node_opens_the_meeting():
    """Its own name may resolve differently inside the pod; then no node would open it."""
    (agent,) = started(SECOND._replace(rank=0))
    assert option(agent, "--rdzv-conf") == "is_host=true"


def test_torchrun_can_meet_by_etcd():
    (agent,) = started(rendezvous="etcd", etcd="etcd-server:2379")
    assert (option(agent, "--rdzv-backend"), option(agent, "--rdzv-endpoint")) == ("etcd", "etcd-server:2379")
    assert "--rdzv-conf" not in agent.argv


def test_the_agents_of_a_start_meet_under_its_own_id():
    """torchrun closes the id that a gang has used: under the job's name alone, no restart would meet again."""
    (agent,) = started(rendezvous="etcd", etcd="etcd-server:2379", run_id="bert-0a1b")
    assert option(agent, "--rdzv-id") == "bert-0a1b"


def test_a_worker_of_torchrun_gets_no_stale_addresses():
    """pytorch/pytorch#135712: restarts hang on gloo without it."""
    (agent,) = started()
    assert agent.environment["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"] == "1"


def test_torchrun_restarts_nothing_by_itself():
    """The launcher starts the whole gang again, which also moves it off a lost node."""
    assert option(started()[0], "--max-restarts") == "0"


def test_jax_gets_one_process_for_each_worker():
    processes = started(start="jax", workers=2)
    assert [process.argv for process in processes] == [tuple(COMMAND)] * 2
    assert [process.environment["JAX_PROCESS_ID"] for process in processes] == ["2", "3"]
    assert {process.environment["JAX_NUM_PROCESSES"] for process in processes} == {"4"}
    assert {process.environment["JAX_COORDINATOR_ADDRESS"] for process in processes} == {"bert-worker-0.bert:29400"}


def test_jax_without_neuron_devices_gets_no_neuron_variables():
    assert not any(name.startswith("NEURON") for name in started(start="jax")[0].environment)


def test_one_jax_process_has_all_cores_of_its_node():
    """As AWS's own examples run it: one process for each node."""
    (process,) = started(start="jax", workers=1, cores=32)
    assert process.environment["NEURON_PJRT_PROCESSES_NUM_DEVICES"] == "32,32"
    assert process.environment["NEURON_PJRT_PROCESS_INDEX"] == "1"
    assert process.environment["NEURON_RT_VISIBLE_CORES"] == "0-31"
    assert process.environment["NEURON_RT_ROOT_COMM_ID"] == "bert-worker-0.bert:29401"


def test_jax_processes_share_the_cores():
    processes = started(start="jax", workers=8, cores=32)
    assert processes[3].environment["NEURON_RT_VISIBLE_CORES"] == "12-15"
    assert processes[3].environment["NEURON_PJRT_PROCESSES_NUM_DEVICES"] == ",".join(["4"] * 16)


def test_a_worker_for_each_core_sees_its_own():
    assert started(start="jax", cores=32)[5].environment["NEURON_RT_VISIBLE_CORES"] == "5"


def test_a_worker_that_mpirun_started_is_the_only_one():
    """No torchrun inside: mpirun has started all the others."""
    (process,) = started(Place("mpi", 1, 2, "bert-worker-0.bert", 29400, (), 5))
    assert process.argv == tuple(COMMAND)
    assert (process.environment["RANK"], process.environment["WORLD_SIZE"], process.environment["LOCAL_RANK"]) == ("37", "64", "5")
    assert (process.environment["MASTER_ADDR"], process.environment["MASTER_PORT"]) == ("bert-worker-0.bert", "29400")


def roles(processes) -> list[tuple[str, int]]:
    """Role and index of each process, from its TF_CONFIG."""
    tasks = [json.loads(process.environment["TF_CONFIG"])["task"] for process in processes]
    return [(task["type"], task["index"]) for task in tasks]


def test_tensorflow_workers_are_numbered_over_all_nodes():
    processes = started(start="tensorflow", workers=2)
    assert roles(processes) == [("worker", 2), ("worker", 3)]
    assert json.loads(processes[0].environment["TF_CONFIG"])["cluster"]["worker"][1] == "bert-worker-0.bert:29401"


def test_parameter_servers_come_last_and_serve():
    """They never end by themselves; the node is done when the others are."""
    processes = started(Place("local", 0, 1, "127.0.0.1", 29400), start="tensorflow", workers=4, parameter_servers=1)
    assert roles(processes) == [("chief", 0), ("worker", 0), ("worker", 1), ("ps", 0)]
    assert [process.serves for process in processes] == [False, True, True, True]


def test_tensorflow_keeps_what_the_operator_wrote():
    place, config = Place("tfjob", 1, 2, "a", 29400), '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}'
    (process,) = plan(place, Settings("bert", 1, "tensorflow"), COMMAND, {"TF_CONFIG": config}, "python3")
    assert process.environment["TF_CONFIG"] == config


def test_tensorflow_needs_the_names_of_all_nodes():
    with pytest.raises(EntryError, match="indexed does not name all nodes"):
        started(Place("indexed", 1, 2, "bert-0.bert", 29400), start="tensorflow", workers=1)


def test_a_command_without_a_framework_runs_once_on_each_node():
    (process,) = started(start="none")
    assert process.argv == tuple(COMMAND)
    assert (process.environment["RANK"], process.environment["WORLD_SIZE"], process.environment["HOME"]) == ("1", "2", "/root")


def test_ray_starts_its_workers_itself():
    """RANK in the driver's environment would reach Ray's workers."""
    (process,) = started(Place("ray", 0, 2, "127.0.0.1", 29400), start="torchrun")
    assert process.argv == tuple(COMMAND)
    assert "RANK" not in process.environment


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"TRN_START": "horovod"}, "TRN_START is 'horovod'; torchrun, jax, tensorflow or none"),
        ({"TRN_RENDEZVOUS": "zookeeper"}, "TRN_RENDEZVOUS is 'zookeeper'; c10d or etcd"),
        ({"TRN_RENDEZVOUS": "etcd"}, "TRN_RENDEZVOUS is etcd, TRN_ETCD_ENDPOINT is not set"),
        ({"TRN_WORKERS_PER_NODE": "5", "TRN_CORES_PER_NODE": "32"}, "32 cores cannot be shared by 5 workers of equal size"),
        ({"TRN_WORKERS_PER_NODE": "0"}, "0 cores cannot be shared by 0 workers of equal size"),
        ({"TRN_HANG_AFTER_S": "soon"}, "TRN_HANG_AFTER_S is 'soon'; a whole number is needed"),
    ],
)
def test_settings_that_cannot_be_are_refused(variables, message):
    with pytest.raises(EntryError) as refused:
        settings(variables)
    assert str(refused.value) == message


def test_settings_have_defaults():
    """Only what differs must be said, as on a laptop."""
    assert settings({}) == Settings(job="job", workers=1, start="none")

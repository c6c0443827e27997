"""What runs beside fake pods, decided without starting anything."""

from pathlib import Path

from local_kubernetes import volcano_webhook
from local_kubernetes.companions import etcd_program, volcano_programs

TOOLS = {name: Path("/tools") / name for name in ("etcd", "vc-controller-manager", "vc-scheduler", "vc-webhook-manager")}
POD = {
    "spec": {
        "containers": [
            {
                "command": ["etcd", "--log-level=warn"],
                "env": [
                    {"name": "ETCD_LISTEN_CLIENT_URLS", "value": "http://0.0.0.0:2379"},
                    {"name": "ETCD_ADVERTISE_CLIENT_URLS", "value": "http://etcd-server:2379"},
                    {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                ],
            }
        ]
    },
    "status": {"podIP": "10.244.0.9"},
}


def test_etcd_listens_at_its_pods_address():
    """On loopback, where the API server looks for it; the Service's name, which nothing resolves here, becomes the address."""
    program = etcd_program(TOOLS, POD, Path("/data"))
    assert program is not None
    assert program.argv == ("/tools/etcd", "--log-level=warn")
    assert program.environment == {
        "ETCD_LISTEN_CLIENT_URLS": "http://127.244.0.9:2379",
        "ETCD_ADVERTISE_CLIENT_URLS": "http://127.244.0.9:2379",
        "ETCD_DATA_DIR": "/data",
    }


def test_a_pod_without_an_address_runs_nothing_yet():
    """It has one once it is placed."""
    assert etcd_program(TOOLS, {**POD, "status": {"phase": "Pending"}}, Path("/data")) is None


def test_volcanos_programs_share_no_port():
    """Each has one for metrics and one for its health."""
    programs = volcano_programs(TOOLS, Path("/admin"), Path("/conf"), (1, 2, 3, 4))
    addresses = [flag for program in programs.values() for flag in program.argv if "127.0.0.1:" in flag]
    assert sorted(flag.rpartition(":")[2] for flag in addresses) == ["1", "2", "3", "4"]
    assert "--scheduler-conf=/conf" in programs["vc-scheduler"].argv


def test_volcanos_webhook_is_fail_closed_once_it_answers():
    """Before, a queue of the stack's own would be refused for its sake; each path is asked at the program's port."""
    for answers, policy in ((False, "Ignore"), (True, "Fail")):
        made = list(volcano_webhook.configurations("volcano-system", 8443, b"authority", answers=answers))
        hooks = [hook for item in made for hook in item["webhooks"]]
        assert {hook["failurePolicy"] for hook in hooks} == {policy}
        assert {hook["clientConfig"]["url"] for hook in hooks} == {f"https://127.0.0.1:8443{hook.path}" for hook in volcano_webhook.HOOKS}
        assert len({item["metadata"]["name"] for item in made}) == len(made)
    argv = volcano_webhook.arguments(TOOLS, Path("/admin"), Path("/pki"), 8443, 5)
    assert argv[0] == "/tools/vc-webhook-manager"
    assert {"--port=8443", "--healthz-address=127.0.0.1:5", "--tls-private-key-file=/pki/tls.key"} <= set(argv)

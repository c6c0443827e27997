"""A kubelet that runs pods as processes of this machine, for tests: no container runtime, no image, no root file system of an image.

    python -m tests.kubernetes.kubelet --kubeconfig FILE --folder FOLDER < PIPE

It takes on every node with the label `trn.test/kubelet=process`, says `ready` on standard output, and runs until standard input
ends: then everything that it started is killed and FOLDER is removed. SIGTERM ends only itself; started again with the same folder
and pipe it finds its pods running.

What a pod has: own process, network, IPC and host name namespaces, an address of its own that every pod reaches, the names of the
cluster's services, its volumes at their paths, a copy-on-write view of the machine's files, init containers and sidecars, probes,
hooks, restarts with back-off, events, a service account token; logs, exec, port-forward and proxy by the API.

What it is not: images (a table of names, see images.py), cgroups (requests and limits are not held), devices (/dev has the usual six),
users (runAsUser, fsGroup), security (a container's root is root), hostPath, nfs and CSI volumes other than claims (a claim is a
folder), updates of mounted ConfigMaps and Secrets, renewal of tokens, ephemeral containers, shareProcessNamespace, grpc probes, ports
on the host, attach.
"""

import argparse
import logging
import os
import shutil
import sys
from pathlib import Path

from tests.kubernetes.kubelet.api import Api
from tests.kubernetes.kubelet.backoff import BackOff
from tests.kubernetes.kubelet.images import read_images, standard_images
from tests.kubernetes.kubelet.kubelet import Kubelet
from tests.kubernetes.kubelet.network import Network
from tests.kubernetes.kubelet.node import LABEL, Machine
from tests.kubernetes.kubelet.sandbox import Addresses, known_addresses
from tests.kubernetes.kubelet.store import Store
from tests.kubernetes.kubelet.streams import Streams

SERVICES = "/apis/networking.k8s.io/v1/servicecidrs/kubernetes"


def main() -> None:
    """Run until standard input ends."""
    options = _options()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    api, folder = Api(options.kubeconfig), options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    life = os.dup(0)
    services = api.get(SERVICES)
    if services is None:
        sys.exit(f"the API server has nothing at {SERVICES}")
    network = Network(folder, life, services["spec"]["cidrs"][0])
    images = (read_images(options.images.read_text()) if options.images else {}) | standard_images()
    store = Store(folder)
    addresses = Addresses(known_addresses(store))
    back_off = BackOff(options.back_off_s)
    machine = Machine(api, store, network, images, life, addresses=addresses, back_off=back_off, lease_s=options.lease_s)
    kubelet = Kubelet(machine, Streams(options.streams, folder, life), options.label, options.way)
    kubelet.start()
    print("ready", flush=True)
    while os.read(life, 1):
        pass
    kubelet.end()
    shutil.rmtree(folder, ignore_errors=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="kubelet", description="Run the pods of fake nodes as processes.")
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument("--folder", required=True, type=Path, help="state: pods, logs, claims; removed at the end")
    parser.add_argument("--label", default=LABEL, help=f"which nodes are its own, instead of {LABEL}")
    parser.add_argument("--images", type=Path, help="JSON with more images, see images.py")
    parser.add_argument("--streams", type=Path, help="the program kubelet-streams, for exec and port-forward")
    parser.add_argument("--way", type=Path, help="Unix socket to make, by which an egress proxy reaches the pods (HTTP CONNECT)")
    parser.add_argument("--back-off-s", type=float, default=BackOff().first_s, help="first delay of a container that ended twice")
    parser.add_argument("--lease-s", type=int, default=40, help="life of a node's lease")
    return parser.parse_args()


if __name__ == "__main__":
    main()

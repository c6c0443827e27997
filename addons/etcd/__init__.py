"""etcd 3.5 with the v2 API, for TorchX's etcd rendezvous."""

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import ETCD_IMAGE


class EtcdSettings(AddonSettings):
    """etcd 3.5 for TorchX's etcd rendezvous."""

    enabled: bool = True
    """Services `etcd-server` and `etcd-client` in the training namespace; `c10d` rendezvous needs neither."""
    persistent: bool = False
    """Keep the data on a gp3 volume. Rendezvous state can be lost, so by default it is deleted with the pod."""


DECLARATION = Declaration(
    key="etcd",
    title="etcd",
    purpose="Rendezvous store with the v2 API, for TorchX's etcd backend",
    component="etcd",
    namespace=None,
    nodes="core",
    settings=EtcdSettings,
    images=(ETCD_IMAGE,),
)

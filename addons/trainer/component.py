"""Kubeflow Trainer as a component."""

from addons.base import Addon
from addons.site import Site
from addons.trainer import API_VERSION, NAMESPACE, TrainerSettings
from addons.trainer.values import trainer_values
from addons.versions import TRAINER
from facts.toolchains import TOOLCHAINS
from training.runtimes import runtime_labels, runtime_name, runtime_spec


class Trainer(Addon):
    """Starts when untainted nodes are there; its runtimes are deleted before its webhook."""

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("Trainer", name, site)
        settings = site.cluster.section(TrainerSettings)
        values = trainer_values(settings)
        # Its controller looks for Volcano's PodGroups when it starts, and watches none where the kind is not there yet.
        after = [self.namespace(NAMESPACE), *site.ready("volcano")]
        release = self.release(TRAINER, namespace=NAMESPACE, values=values, timeout_s=600, after=after)
        hooks = self.retry_on_webhook(name)
        for toolchain in TOOLCHAINS.values():
            # A user's own image is written as it is to be pulled.
            image = settings.images.get(toolchain.name) or (self.image(toolchain.image) if toolchain.image is not None else None)
            if image is None:
                continue
            self.custom_resource(
                f"training-runtime-{toolchain.name}",
                API_VERSION,
                "ClusterTrainingRuntime",
                metadata={"name": runtime_name(toolchain.name), "labels": runtime_labels(toolchain)},
                spec=runtime_spec(toolchain, image, site.cluster.claim_name, gang="volcano" in site.made),
                after=[release],
                hooks=hooks,
            )
        self.register_outputs({})


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return Trainer("trainer", site)

"""Kubeflow Trainer as a component."""

from addons.base import Addon
from addons.site import Site
from addons.trainer import API_VERSION, NAMESPACE, TrainerSettings
from addons.trainer.values import runtime_spec, trainer_values
from addons.versions import TRAINER

RUNTIME = "torch-neuron"


class Trainer(Addon):
    """Starts when untainted nodes are there; its runtime is deleted before its webhook."""

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("Trainer", name, site)
        settings = site.cluster.section(TrainerSettings)
        values = trainer_values(settings)
        # Its controller looks for Volcano's PodGroups when it starts, and watches none where the kind is not there yet.
        after = [self.namespace(NAMESPACE), *site.ready("volcano")]
        release = self.release(TRAINER, namespace=NAMESPACE, values=values, timeout_s=600, after=after)
        if settings.image is not None:
            self.custom_resource(
                "training-runtime",
                API_VERSION,
                "ClusterTrainingRuntime",
                metadata={"name": RUNTIME, "labels": {"trainer.kubeflow.org/framework": "torch"}},
                spec=runtime_spec(settings.image, site.cluster.claim_name, gang="volcano" in site.made),
                after=[release],
                hooks=self.retry_on_webhook(name),
            )
        self.register_outputs({})


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return Trainer("trainer", site)

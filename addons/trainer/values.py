"""Helm values of Kubeflow Trainer as plain data."""

from addons.images import Values
from addons.trainer import TrainerSettings


def trainer_values(settings: TrainerSettings) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    return {
        "manager": {"resources": {"requests": {"cpu": "100m", "memory": "256Mi"}}},
        "jobset": {"install": settings.job_set},
        # The chart's own runtimes are put in, and taken out, by Jobs that download kubectl: without a way to the internet the
        # second one blocks the uninstall.
        "runtimes": {"defaultEnabled": False},
    }

"""Most operations that a chip can do in a second, as AWS publishes it: what a training's throughput is a share of."""

from collections.abc import Mapping

PEAK_BF16_TFLOPS: Mapping[str, float] = {"Trainium": 190, "Trainium2": 667, "Inferentia2": 190}
"""Dense BF16, per chip, by the catalogue's names of chips. Published: aws-neuron/aws-neuron-sdk, architecture pages of each chip, 2026-08-21."""
FORMULA = "samples per second x FLOPs per sample / (chips x peak BF16 FLOPS of a chip)"
"""Share of the peak. A recipe gives its FLOPs per sample with its first line, as `flops_per_sample`."""

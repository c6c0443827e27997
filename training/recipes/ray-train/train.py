"""Ray Train: Ray starts the workers, on the node's cores or on NeuronCores, and starts them again when one is lost.

The driver runs on the head. On Trainium each worker asks for `neuron_cores`, Ray sets NEURON_RT_VISIBLE_CORES for it, and its
TorchXLAConfig joins the workers by XLA, on whose device model and samples are. `--cores 0` asks for processors, which gloo joins.
Progress is written by the first worker, whose output Ray brings to the driver.
"""

import argparse
import os
import sys
import tempfile
import time

import ray
import ray.train
import torch
from ray.train import Checkpoint, FailureConfig, RunConfig, ScalingConfig
from ray.train.torch import TorchConfig, TorchTrainer
from ray.train.torch.xla import TorchXLAConfig

import checkpoints
import progress_lines
from workers_torch import Workers

BATCH, FEATURES = 32, 16


def learn(settings: dict) -> None:
    """One worker: fits a linear model to samples that follow from step and rank; every tenth step is a checkpoint."""
    workers = Workers()
    rank, count = workers.rank, workers.count
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank))
    torch.manual_seed(7)
    model = torch.nn.Linear(FEATURES, 1)
    done, last = 0, ray.train.get_checkpoint()
    device = str(workers.device)
    work = {"steps": settings["steps"], "cores": os.environ.get("NEURON_RT_VISIBLE_CORES", ""), "device": device}
    progress_lines.event("started", pid=os.getpid(), devices=count, **work)
    if last is not None:
        with last.as_directory() as folder:
            kept = torch.load(os.path.join(folder, "state.pt"), weights_only=True)
        model.load_state_dict(kept["model"])
        done = kept["step"]
        progress_lines.event("resumed", step=done)
    model = model.to(workers.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(done + 1, settings["steps"] + 1):
        began = time.monotonic()
        samples = torch.randn(BATCH, FEATURES, generator=torch.Generator().manual_seed(step * count + rank)).to(workers.device)
        loss = ((model(samples) - samples.sum(1, keepdim=True)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        parameters = list(model.parameters())
        *gradients, total = workers.add([*(parameter.grad for parameter in parameters), loss.detach()])
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = gradient / count
        optimizer.step()
        workers.run()
        mean = total.item() / count
        progress_lines.step(step, mean, BATCH * count / (time.monotonic() - began))
        if step % 10 == 0:
            report(model, step, mean, rank)
        if step == settings["dies_after"] and last is None and rank == 1:
            # The controller asks for reports about once a second: an earlier end would take the last checkpoint along.
            time.sleep(5)
            os._exit(1)


def report(model: torch.nn.Module, step: int, loss: float, rank: int) -> None:
    """Reports a checkpoint to Ray; the first worker's is the one that is kept."""
    if rank:
        ray.train.report({"step": step, "loss": loss})
        return
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        there = {name: tensor.cpu() for name, tensor in model.state_dict().items()}
        torch.save({"model": there, "step": step}, os.path.join(folder, "state.pt"))
        ray.train.report({"step": step, "loss": loss}, checkpoint=Checkpoint.from_directory(folder))
    kept = ray.train.get_checkpoint()
    if kept is not None:
        checkpoints.tell(step, kept.path, began)


def main(arguments: list[str]) -> int:
    """Runs the trainer; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--cores", type=int, default=1, help="NeuronCores of each worker; 0 for processors")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--dies-after", type=int, default=0, help="one worker ends after this step, to see it recover")
    asked = parser.parse_args(arguments)
    checkpoints.same_training(
        os.environ.get("TRN_CHECKPOINTS", ""), {"features": FEATURES, "batch": BATCH, "workers": asked.workers}, first=True
    )
    resources = {"CPU": 1.0, **({"neuron_cores": float(asked.cores)} if asked.cores else {})}
    trainer = TorchTrainer(
        learn,
        train_loop_config={"steps": asked.steps, "dies_after": asked.dies_after},
        torch_config=TorchXLAConfig() if asked.cores else TorchConfig(backend="gloo"),
        scaling_config=ScalingConfig(num_workers=asked.workers, use_gpu=False, resources_per_worker=resources),
        run_config=RunConfig(
            name=os.environ.get("TRN_JOB", "ray"),
            storage_path=os.environ.get("TRN_CHECKPOINTS") or tempfile.gettempdir(),
            failure_config=FailureConfig(max_failures=3),
        ),
    )
    result = trainer.fit()
    return 0 if result.error is None else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

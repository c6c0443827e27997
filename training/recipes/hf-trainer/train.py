"""Hugging Face Trainer: BERT for masked tokens from its configuration alone, nothing downloaded.

Trainer saves, resumes and spreads over torchrun's workers by itself; the callback writes progress, and turns SIGTERM into a checkpoint on
which all workers agree. On torch-2.33 it runs as it is; on PyTorch/XLA it is optimum-neuron's NeuronTrainer that is wanted.
"""

import argparse
import os
import time
from typing import Any

import torch
import torch.distributed as dist
from torch.utils.data import Dataset
from transformers import BertConfig, BertForMaskedLM, Trainer, TrainerCallback, TrainingArguments

import checkpoints
import leaving
import progress_lines
import token_data
import transformer_flops
from stop_request import STOPPED, StopRequest

SIZES = {
    "base": BertConfig(),
    "tiny": BertConfig(
        vocab_size=512,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=128,
        max_position_embeddings=64,
    ),
}
"""The first is that of the library, which is BERT-base."""
MASK, FIRST_WORD = 3, 4
LENGTH = 32
"""Tokens of a sequence."""


class Generated(Dataset):
    """Made-up text in which some words are far more frequent than others; sample i follows from i."""

    def __init__(self, vocabulary: int, length: int) -> None:
        self.vocabulary, self.length = vocabulary, length

    def __len__(self) -> int:
        return 4096

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        random = torch.Generator().manual_seed(index)
        ids = FIRST_WORD + ((self.vocabulary - FIRST_WORD) * torch.rand(self.length, generator=random) ** 4).long()
        masked = torch.rand(self.length, generator=random) < 0.15
        return {"input_ids": ids.masked_fill(masked, MASK), "labels": ids.masked_fill(~masked, -100)}


class Packed(Dataset):
    """Stretches of a set that `trn data prepare` made for masked tokens; a sample and its mask follow from its index, the order is Trainer's."""

    def __init__(self, folder: str, vocabulary: int, length: int) -> None:
        tokens = token_data.Tokens(folder)
        tokens.fit(vocabulary)
        self.begin, self.end, self.mask = (tokens.special.get(name) for name in ("class", "separator", "mask"))
        if self.begin is None or self.end is None or self.mask is None:
            raise token_data.WrongData(f"{folder} is not for masked tokens: it needs a tokenizer with [CLS], [SEP] and [MASK]")
        self.text = token_data.Sequences(tokens, length - 2)

    def __len__(self) -> int:
        return self.text.samples

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        words = self.text.row(0, index)[:-1].tolist()
        ids = torch.tensor([self.begin, *words, self.end])
        masked = torch.rand(len(ids), generator=torch.Generator().manual_seed(index)) < 0.15
        masked[0] = masked[-1] = False
        return {"input_ids": ids.masked_fill(masked, self.mask or 0), "labels": ids.masked_fill(~masked, -100)}


class Progress(TrainerCallback):
    """Writes each step, and stops all workers at the same one."""

    def __init__(self, stop: StopRequest) -> None:
        self.stop, self.stopped = stop, False
        self.began = self.step_ended = time.monotonic()

    def on_step_end(self, args: Any, _state: Any, control: Any, **_: Any) -> None:
        """Asks the others whether any was asked to stop."""
        # On the device: Neuron's process group takes no tensor of the processor.
        wish = torch.tensor(float(self.stop.asked), device=args.device)
        if dist.is_initialized():
            dist.all_reduce(wish)
        if wish.item() > 0:
            self.stopped = control.should_save = control.should_training_stop = True
        self.step_ended = time.monotonic()

    def on_log(self, args: Any, state: Any, _control: Any, logs: dict[str, float] | None = None, **_: Any) -> None:
        """Trainer gives the loss here, once for each step."""
        if logs and "loss" in logs:
            taken, self.began = time.monotonic() - self.began, time.monotonic()
            progress_lines.step(state.global_step, float(logs["loss"]), args.train_batch_size * args.world_size / taken)

    def on_save(self, args: Any, state: Any, _control: Any, **_: Any) -> None:
        """After this worker has written its part of a checkpoint; it is whole when all have."""
        if dist.is_initialized():
            dist.barrier()
        if state.is_world_process_zero:
            checkpoints.tell(state.global_step, os.path.join(args.output_dir, f"checkpoint-{state.global_step}"), self.step_ended)


def main(arguments: list[str]) -> int:
    """Trains; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=sorted(SIZES), default="base")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--checkpoint-steps", type=int, default=100)
    parser.add_argument(
        "--data", default=os.environ.get("TRN_DATA", ""), help="folder that `trn data prepare` made; `generated` makes text up"
    )
    asked = parser.parse_args(arguments)
    token_data.announce(asked.data)
    torch.set_num_threads(1)
    folder, _, keep = checkpoints.from_environment(os.environ)
    settings = TrainingArguments(
        output_dir=folder or "/tmp/hf-trainer",
        max_steps=asked.steps,
        per_device_train_batch_size=8,
        learning_rate=1e-3,
        logging_steps=1,
        logging_nan_inf_filter=False,
        # Bert does not divide its loss by all workers' tokens, so Trainer would count it once for each worker.
        average_tokens_across_devices=False,
        save_strategy="steps" if folder else "no",
        save_steps=asked.checkpoint_steps,
        save_total_limit=keep,
        use_cpu=not torch.accelerator.is_available(),
        seed=7,
        report_to="none",
        # The fused one, which is the default, knows only some devices.
        optim="adamw_torch",
        disable_tqdm=True,
        log_level="error",
    )
    torch.manual_seed(7)
    model = BertForMaskedLM(SIZES[asked.size])
    progress = Progress(StopRequest())
    is_generated, vocabulary = asked.data == token_data.GENERATED, model.config.vocab_size
    text = Generated(vocabulary, LENGTH) if is_generated else Packed(asked.data, vocabulary, LENGTH)
    what = "generated" if isinstance(text, Generated) else text.text.identity
    trainer = Trainer(model=model, args=settings, train_dataset=text, callbacks=[progress])
    there = bool(folder) and any(name.startswith("checkpoint-") for name in os.listdir(folder)) if os.path.isdir(folder) else False
    parameters, size = model.num_parameters(), model.config
    tables = (size.max_position_embeddings + size.type_vocab_size) * size.hidden_size
    flops = transformer_flops.of_sequence(parameters, size.num_hidden_layers, size.hidden_size, LENGTH, looked_up=tables)
    about = {"model": size.to_dict(), "workers": settings.world_size, "data": f"{what}, {LENGTH} tokens", "steps": asked.steps}
    checkpoints.same_training(folder, about, first=settings.process_index == 0)
    work = {"steps": asked.steps, "flops_per_sample": flops}
    progress_lines.event("started", pid=os.getpid(), devices=settings.world_size, parameters=parameters, **work)
    trainer.train(resume_from_checkpoint=there)
    if progress.stopped and trainer.state.global_step < asked.steps:
        progress_lines.event("stopped", step=trainer.state.global_step)
        return STOPPED
    progress_lines.event("finished", step=trainer.state.global_step)
    return 0


if __name__ == "__main__":
    leaving.run(main)

"""The same script for native PyTorch on Trainium."""

import json
import os
import time

import torch
import torch.distributed as dist
from data import dataset
from model import Model
from torch.utils.data import DataLoader

dist.init_process_group("neuron")
device = torch.device("neuron", int(os.environ["LOCAL_RANK"]))
model = torch.compile(Model().to(device), backend="neuron")
optimizer = torch.optim.AdamW(model.parameters())
for step, (tokens, labels) in enumerate(DataLoader(dataset(), batch_size=8, drop_last=True)):
    loss = model(tokens.to(device), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    count = torch.tensor(labels.numel(), device=device)
    dist.all_reduce(count)
    if step % 100 == 0:
        line = {"trn": "step", "step": step + 1, "time": time.time(), "rank": dist.get_rank(), "loss": loss.item()}
        print(json.dumps(line), flush=True)

"""A training script as it is written for GPUs."""

import os

import torch
import torch.distributed as dist
from data import dataset
from model import Model
from torch.utils.data import DataLoader

dist.init_process_group("nccl")
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
model = torch.compile(Model().to(device))
optimizer = torch.optim.AdamW(model.parameters())
for step, (tokens, labels) in enumerate(DataLoader(dataset(), batch_size=8)):
    loss = model(tokens.cuda(), labels.cuda())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    count = torch.tensor(labels.numel())
    dist.all_reduce(count)
    print(step, loss.item())

"""BERT pretraining by the framework of the job's toolchain: `jax.distributed` starts JAX, torchrun starts PyTorch/XLA."""

import os

import leaving

if __name__ == "__main__":
    if os.environ.get("TRN_START") == "jax":
        from train_jax import main
    else:
        from train_xla import main
    leaving.run(main)

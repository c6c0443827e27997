"""Training of Llama 3 and Qwen3 by the framework of the job's toolchain: JAX, or PyTorch started by torchrun."""

import os
import sys

from llama_options import OptionError

if __name__ == "__main__":
    if os.environ.get("TRN_START") == "jax":
        from train_jax import main
    else:
        from train_torch import main
    try:
        sys.exit(main(sys.argv[1:]))
    except OptionError as error:
        sys.exit(f"train.py: {error}")

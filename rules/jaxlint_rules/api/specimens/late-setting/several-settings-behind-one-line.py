# several settings behind one line, which are mended together

import os

import jax

print(jax.devices())
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # finding
os.environ["XLA_PYTHON_CLIENT_MEM_FRACTION"] = ".85"
os.environ["XLA_FLAGS"] = "--xla_gpu_autotune_level=0"
os.environ["JAX_COMPILATION_CACHE_DIR"] = "/tmp/cache"  # finding

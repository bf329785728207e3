# after the import

import os
import jax

os.environ["JAX_PLATFORMS"] = "cpu"  # finding
os.environ.setdefault("JAX_ENABLE_X64", "1")

def main():
    os.environ["JAX_DEBUG_NANS"] = "True"  # finding
    os.environ.update(JAX_LOG_COMPILES="1")

def update():
    os.environ.update(JAX_LOG_COMPILES="1")  # finding

def choose():
    os.environ.setdefault("JAX_ENABLE_X64", "1")  # finding

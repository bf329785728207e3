#!/bin/sh
# Runs the tests marked `gpu` where there is an NVIDIA GPU, and says so where there is none.
# GPU_PYTHON names an environment with jax[cuda], pytest and what verify needs; without it one is made in .venv-gpu (5 GB).
set -e
if ! gpus=$(nvidia-smi -L 2>/dev/null); then
    echo "make gpu: no NVIDIA GPU here (nvidia-smi does not answer); nothing was run"
    exit 0
fi
echo "$gpus"
if [ -z "$GPU_PYTHON" ]; then
    "$PYTHON" tools/setup.py --venv .venv-gpu --extra verify --extra gpu
    GPU_PYTHON=.venv-gpu/bin/python
fi
# pytest imports JAX as well, and would keep the GPU's memory from the programs that the tests start
export XLA_PYTHON_CLIENT_PREALLOCATE=false JAX_PLATFORMS=cuda,cpu
status=0
"$GPU_PYTHON" -m pytest -v --durations=9 -m gpu tests/integration/test_gpu.py || status=$?
if [ "$status" = 5 ]; then
    echo "make gpu: no test is marked gpu"
    status=0
fi
exit "$status"

#!/bin/sh
# Runs the tests of Ray's JaxTrainer in .venv, with what ray[train] needs beside it in .venv-ray.
set -eu
version=$("$PYTHON" -c 'import sys; print(f"py3{sys.version_info.minor}")')
uv=$(command -v uv || echo .bootstrap/bin/uv)
"$uv" pip install -q --python .venv/bin/python --target .venv-ray -c "constraints/$version.txt" pandas pyarrow tensorboardX pydantic
PYTHONPATH="$PWD/.venv-ray" .venv/bin/python -m pytest -q tests/integration/test_ray_trainer.py

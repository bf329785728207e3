"""Models of library classes that programs derive from: source that the analysis evaluates in place of the library's.

A model contains what matters for tracing (which fields are static, how values flow), and is never imported.
"""

from __future__ import annotations

from pathlib import Path

# Canonical name of a class -> the file of its model.
MODELS = {"flax.training.train_state.TrainState": Path(__file__).with_name("flax_train_state.pyi")}

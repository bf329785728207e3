"""Models of library classes that programs build on: source that the analysis evaluates in place of the library's own.

A model says what matters to staging (which fields are static, what flows where) and is never imported.
"""

from __future__ import annotations

from pathlib import Path

# Canonical name of a class -> the file of its model.
MODELS = {"flax.training.train_state.TrainState": Path(__file__).with_name("flax_train_state.pyi")}

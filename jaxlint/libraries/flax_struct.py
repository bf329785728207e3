"""flax.struct: dataclasses that are pytrees, and the train state."""

from __future__ import annotations

from jaxlint.staging.values.class_models import PYTREE, base, decorator, makes_fields

base("flax.struct.PyTreeNode", PYTREE, frozen=True)
base("flax.training.train_state.TrainState", PYTREE, frozen=True)
decorator("flax.struct.dataclass", PYTREE, freezes="always")
makes_fields("flax.struct.field")

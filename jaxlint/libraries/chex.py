"""chex: its dataclasses."""

from __future__ import annotations

from jaxlint.staging.values.class_models import PYTREE, decorator

decorator("chex.dataclass", PYTREE, freezes="told")
decorator("chex.mappable_dataclass", PYTREE, freezes="told")

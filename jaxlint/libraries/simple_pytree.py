"""simple_pytree: dataclasses that are pytrees."""

from __future__ import annotations

from jaxlint.staging.values.class_models import PYTREE, decorator

decorator("simple_pytree.dataclass", PYTREE, freezes="always")

"""jax_dataclasses: dataclasses that are pytrees."""

from __future__ import annotations

from jaxlint.staging.values.class_models import PYTREE, decorator

_MUTABLE = frozenset({"__mutability__", "_mark_mutable"})  # the class that an unlocked class becomes

decorator("jax_dataclasses.pytree_dataclass", PYTREE, freezes="always", unlocked_by=_MUTABLE)

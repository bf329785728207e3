"""One module per optimisation, all with the interface of `Transform`."""

from __future__ import annotations

from jaxlint_runtime.transforms.base import Candidate, NotApplicable, Transform
from jaxlint_runtime.transforms.donation import Donation

__all__ = ["TRANSFORMS", "Candidate", "NotApplicable", "Transform"]

TRANSFORMS: dict[str, Transform] = {transform.name: transform for transform in (Donation(),)}

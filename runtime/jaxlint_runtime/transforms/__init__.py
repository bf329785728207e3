"""One module per optimisation, each implementing `Transform`."""

from __future__ import annotations

from jaxlint_runtime.transforms.attention_kernels import Kernels
from jaxlint_runtime.transforms.bf16 import Bf16
from jaxlint_runtime.transforms.cross_entropy import CrossEntropy
from jaxlint_runtime.transforms.donation import Donation
from jaxlint_runtime.transforms.fp16 import Fp16
from jaxlint_runtime.transforms.fusions import Fusions
from jaxlint_runtime.transforms.microbatch import Microbatch
from jaxlint_runtime.transforms.remat import Remat
from jaxlint_runtime.transforms.transform import Candidate, NotApplicable, Transform

__all__ = ["TRANSFORMS", "Candidate", "NotApplicable", "Transform"]

TRANSFORMS: dict[str, Transform] = {
    transform.name: transform
    for transform in (Donation(), Remat(), Bf16(), Kernels(), CrossEntropy(), Fusions(), Microbatch(), Fp16())
}

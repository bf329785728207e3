"""The table entry of the transformation that created a transformed function."""

from __future__ import annotations

from jaxlint.jaxapi.transforms import TRANSFORMS, Transform
from jaxlint.staging.values import ExternalObject, Transformed


def spec_of(transformed: Transformed) -> Transform:
    """The table entry of a transformation, by the function that it returned. Raises AssertionError if it has none."""
    spec = transformed.attributes.get("spec")
    assert isinstance(spec, ExternalObject)
    return TRANSFORMS[spec.name]

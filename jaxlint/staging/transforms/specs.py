"""What the tables say of the transformation that made a transformed function."""

from __future__ import annotations

from jaxlint.jaxapi.transforms import TRANSFORMS, Transform
from jaxlint.staging.values import ExternalObject, Transformed


def spec_of(transformed: Transformed) -> Transform:
    """What is known of a transformation, by the function that it gave. Raises AssertionError for one without a table."""
    spec = transformed.attributes.get("spec")
    assert isinstance(spec, ExternalObject)
    return TRANSFORMS[spec.name]

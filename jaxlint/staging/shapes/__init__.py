"""The shape of each array, in integers and symbols. It is computed on demand, from the operations behind the array."""

from jaxlint.staging.shapes import (
    algebra,
    concatenation,
    convolutions,
    elementwise,
    indexing,
    making,
    moving,
    products,
    scientific,
    windows,
)

__all__ = [
    "algebra",
    "concatenation",
    "convolutions",
    "elementwise",
    "indexing",
    "making",
    "moving",
    "products",
    "scientific",
    "windows",
]

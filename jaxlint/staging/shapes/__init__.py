"""What array each value is: its shape, in integers and symbols, worked out of the operations behind it when it is asked for."""

from jaxlint.staging.shapes import algebra, elementwise, indexing, making, moving, products

__all__ = ["algebra", "elementwise", "indexing", "making", "moving", "products"]

"""What pytest and absl call fixtures and tables of test cases."""

from __future__ import annotations

# Decorators that run a test once per row of a table.
PARAMETRISERS = frozenset(
    {
        "absl.testing.parameterized.parameters",
        "absl.testing.parameterized.named_parameters",
        "absl.testing.parameterized.product",
        "pytest.mark.parametrize",
    }
)


CASE = "pytest.param"


FIXTURE = "pytest.fixture"

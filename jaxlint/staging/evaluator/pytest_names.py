"""The names of fixtures and of test case tables in pytest and absl."""

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

"""Shardings that `jaxlint verify --mesh` finds, beside an expert's and plain data parallel."""

"""The project model and the staging analysis: what JAX traces, and why."""

from jaxlint.staging.analysis import Analysis, Reporter, analyze

__all__ = ["Analysis", "Reporter", "analyze"]

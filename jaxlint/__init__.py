"""Static analysis, codemods and measured proof for JAX programs."""

__version__ = "0.1.0"

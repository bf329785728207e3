"""Rules of the category kernels."""

PALLAS_CALL = "jax.experimental.pallas.pallas_call"

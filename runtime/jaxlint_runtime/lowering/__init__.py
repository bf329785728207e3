"""From a function and one call of it to jaxpr, StableHLO and compiled program; and jaxprs evaluated equation by equation."""

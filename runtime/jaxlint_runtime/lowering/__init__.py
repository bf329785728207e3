"""From a function and one call of it to jaxpr, StableHLO and compiled program; and evaluation of jaxprs equation by
equation."""

"""The yardstick of `jaxlint verify`: ordinary programs, what verify makes of them alone, and what an expert wrote."""

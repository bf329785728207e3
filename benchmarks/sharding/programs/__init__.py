"""Train steps, and where an expert would put their arrays."""

"""What `jaxlint inspect` says of functions and their parameters."""

"""A captured function and its candidates as files, so that a process without the user's code can measure them."""

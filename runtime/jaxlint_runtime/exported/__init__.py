"""A captured function and its candidates as files, so that they are measured in a process that never saw the code of the user."""

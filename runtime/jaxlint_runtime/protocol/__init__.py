"""The messages between the command line and its workers."""

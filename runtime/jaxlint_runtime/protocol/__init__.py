"""What the command line and its workers say to each other."""

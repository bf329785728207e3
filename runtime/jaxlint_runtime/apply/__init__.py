"""What `--apply` writes to the source: which proven results can be written, how, and whether each gain is there again in the edited program."""

"""What `--apply` writes to the source: which proven results can be written, how, and whether the edited program shows
each gain again."""

"""`--apply`: which proven results can be written to the source, how, and whether the edited program shows each gain again."""

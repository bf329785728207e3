"""What earlier runs of `verify` proved and measured, for programs that have not changed since."""

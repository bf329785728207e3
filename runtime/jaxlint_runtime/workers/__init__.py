"""Worker processes: how they start, are monitored and end, and what each of them does."""

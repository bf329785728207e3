"""Worker processes: how they are started, watched and ended, and what each of them does."""

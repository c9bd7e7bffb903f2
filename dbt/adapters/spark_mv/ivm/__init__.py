"""Fast refresh: which queries qualify, what a change of their tables does to their rows. Pure."""

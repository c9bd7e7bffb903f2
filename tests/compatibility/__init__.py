"""The package with the lowest and the newest versions of what it needs; see `__main__`."""

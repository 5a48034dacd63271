"""Models: everything with `read` and `decode`."""

"""One reader per corpus or simulator."""

"""One reader per corpus or simulator; each returns `Splits`. They are listed in `datasets.py`."""

"""How files become examples, shared by all readers.

Files are opened safely (`sources`, `streams`), read row by row (`rows`, `tables`), tokenised
(`tokenise` holds the tokenisers) and filtered (`preprocessing`), split (`splitting`) and cached
(`cache`, `parquet_cache`).
"""

"""The published algorithms, written plainly, as the code released with the papers works.

Batches of 32 texts as there (sorted by length here, which spares the reference most padding), a
packed bidirectional network, one forward pass per deletion and per shuffle, one example at a time
where NumPy and SciPy are used. `benchmarks.speed` measures them next to the package, on the same
weights and the same texts, and requires equal numbers.
"""

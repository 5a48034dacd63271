"""How fast is the package, next to the published algorithms and to other libraries?

python -m benchmarks.speed --quick            # a minute; make bench measures everything
python -m benchmarks.speed --only kendall     # rows whose name holds the word
python -m benchmarks.speed --device cuda      # the same table on a GPU

docs/performance.md explains the rows.
"""

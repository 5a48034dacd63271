"""Reports on finished runs: HTML pages, and figures and tables for papers.

Everything is made from stored results, without torch; nothing is computed again.

- `page`, `site` and `lesson` write HTML; `overview`, `examples`, `row_effects` and `charts/` make
  the data in it; `templates/` and `static/` hold its HTML, CSS and JavaScript, and `scripts` lists
  the scripts in their order.
- `paper_files` writes the figures of `figures/` and the tables of `tables/`.
- `run_sources` reads runs and findings from disk.
"""

"""From a model and data to results: which audits and measures run, and what they collect."""

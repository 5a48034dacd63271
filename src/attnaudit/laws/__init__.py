"""The laws that audits rely on, and what checks a model against them."""

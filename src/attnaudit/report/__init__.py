"""Reports: read results, make pages. No torch, no new numbers."""

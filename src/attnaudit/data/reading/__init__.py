"""How files become examples: found, opened safely, split into rows, tokenised, divided, and kept for the next time."""

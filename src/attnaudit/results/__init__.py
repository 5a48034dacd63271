"""What an audit found: values, summaries, the card, and where they are stored. Imports no torch unless it summarises."""

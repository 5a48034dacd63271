"""One module a paper: its published numbers, to set beside ours. Never tuned towards; differences are shown as they are."""

"""What hooks and Hugging Face models share: taps on the attention and temporary patches."""

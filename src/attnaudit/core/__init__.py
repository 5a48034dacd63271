"""What every other room stands on: writing files safely, and knowing whose files they are. Imports nothing of the package but errors."""

"""halfmask: private statistics."""

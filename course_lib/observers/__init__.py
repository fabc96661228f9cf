"""What watches a launch, one observer a file. Each overrides only the hooks it needs."""

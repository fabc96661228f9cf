"""The commands for teachers (``tile-by-tile teach``): editions, assignments, grades and guides."""

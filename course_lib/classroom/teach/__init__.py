"""The commands for teachers (``python -m course_lib.teach``): editions, assignments, grades and guides."""

"""The definition of exercises, and the grading of answers."""

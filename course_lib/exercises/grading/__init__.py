"""What an exercise is, and how an answer to it is graded."""

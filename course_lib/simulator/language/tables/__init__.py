"""What a kernel may contain, row by row: operators, functions of numbers, and what to write instead of all else."""

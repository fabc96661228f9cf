"""What a compiled kernel runs on: lane vectors, masks, arrays and their accesses, and warps."""

"""The machine that a compiled kernel runs on: lanes, memory, warps, and the engine that runs blocks of them."""

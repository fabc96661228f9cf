"""Numba's own CUDA simulator, in a separate process that persists: numba selects it when it is imported.

It runs every thread as an operating-system thread with Python's and NumPy's arithmetic, so it is an oracle only for
kernels in which those and numba's typing agree: int64 and float64, no wrap-around, no division by zero.
"""

import os
import pickle
import subprocess
import sys
from pathlib import Path


class NumbaSimulator:
    """A child process that imports kernels and launches them."""

    def __init__(self):
        environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
        self.child = subprocess.Popen(
            [sys.executable, str(Path(__file__))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )

    def run(self, source, grid, block, arrays):
        """Launch `kernel` of this source and return its arrays after the launch."""
        pickle.dump((source, grid, block, arrays), self.child.stdin)
        self.child.stdin.flush()
        answer = pickle.load(self.child.stdout)
        if isinstance(answer, str):
            raise RuntimeError(answer)
        return answer

    def close(self):
        self.child.stdin.close()
        self.child.wait(10)


def serve():
    from numba import config

    assert config.ENABLE_CUDASIM
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    while True:
        try:
            source, grid, block, arrays = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            names = {}
            exec(compile(source, "<generated>", "exec"), names)
            names["kernel"][grid, block](*arrays)
            answer = arrays
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}"
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    serve()

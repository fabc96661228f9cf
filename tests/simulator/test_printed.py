"""print in kernels."""

import numpy as np
from numba import cuda

from course_lib import simulate
from course_lib.simulator.runtime.printed import MOST_LINES


def test_threads_print_in_their_order(capsys):
    def kernel(a):
        i = cuda.grid(1)
        if i % 2 == 0:
            print("thread {}", i, "has", a[i], int(i > 2))
        if i == 4:
            print()
            print("last")

    run = simulate(kernel, schedule="reversed")[3, 2](np.linspace(0, 1, 6, dtype="f4"))
    expected = "thread {} 0 has 0.000000 0\nthread {} 2 has 0.400000 0\nthread {} 4 has 0.800000 1\n\nlast\n"
    assert run.printed == expected and capsys.readouterr().out == expected


def test_a_launch_that_prints_too_much_is_cut_and_one_that_prints_nothing_says_nothing(capsys):
    def kernel(times):
        for _ in range(times):
            print(cuda.grid(1))

    lines = simulate(kernel)[100, 100](3).printed.splitlines()
    assert len(lines) == MOST_LINES + 1 and "left out" in lines[-1] and capsys.readouterr().out
    assert simulate(kernel)[100, 100](0).printed == "" and capsys.readouterr().out == ""

"""Answers on tensor cores: plausible wrong ones with the first hint they meet, and right ones."""

HEADER = "from numba import cuda, float32\n\nfrom course_lib.kernels import mma_tf32, to_tf32\n\n\n"

A_ITEMS = "        a = A[top + q, k + t], A[top + q + 8, k + t], A[top + q, k + t + 4], A[top + q + 8, k + t + 4]\n"
B_ITEMS = "        b = B[k + t, left + q], B[k + t + 4, left + q]"
LANE = "return 4 * (row % 8) + column % 4"

WRONG = r"""
# lane-of
as in memory: {LANE} -> return 8 * row + column ? row-1-column-0
no remainders: {LANE} -> return 4 * row + column ? row-2-column-6
one remainder: {LANE} -> return 4 * row + column % 4 ? row-10-column-1
exchanged: {LANE} -> return 4 * (column % 8) + row % 4 ? names-exchanged
no return: {LANE} -> 4 * (row % 8) + column % 4 ? returns-nothing

# fragments
the first tile of A ? fragments-of-first-tile: begin at top
- {A_ITEMS} ->         a = A[q, k + t], A[q + 8, k + t], A[q, k + t + 4], A[q + 8, k + t + 4]\n
B's indices exchanged: {B_ITEMS} ->         b = B[left + q, k + t], B[left + q, k + t + 4] ? lanes-of-b-exchanged

# more-digits
as it was: >         c = mma_tf32(a, b, c) ? three-digits
loaded again: b[0] - b_high[0] -> B[k + t, left + q] - b_high[0] ? loaded-twice
"""

NIGHTLY = r"""
# fragments
k forgotten ? one-step-over-and-over
- {A_ITEMS} ->         a = A[top + q, t], A[top + q + 8, t], A[top + q, t + 4], A[top + q + 8, t + 4]\n
- {B_ITEMS} ->         b = B[t, left + q], B[t + 4, left + q]
A's middle items exchanged ? exchanged-items
- {A_ITEMS} ->         a = A[top + q, k + t], A[top + q, k + t + 4], A[top + q + 8, k + t], A[top + q + 8, k + t + 4]\n

# more-digits
only the high parts: >         c = mma_tf32(a_high, (to_tf32(b[0]), to_tf32(b[1])), c) ? three-digits
only in some lanes ? belongs-after
-         c = mma_tf32(a_low, b_high, c)\n ->         if lane < 16:\n            c = mma_tf32(a_low, b_high, c)\n
"""

RIGHT = r"""
# lane-of
from what is left over: {LANE} -> q, t = row - row // 8 * 8, column & 3\n    return (q << 2) | t

# fragments
rows and columns named
- {A_ITEMS} ->         y, x = top + q, k + t\n        a = A[y, x], A[y + 8, x], A[y, x + 4], A[y + 8, x + 4]\n

# more-digits
all four products
-         c = mma_tf32(a_low, b_high, c)\n ->         c = mma_tf32(a_low, b_low, c)\n
+         c = mma_tf32(a_low, b_high, c)\n
"""

"""The exercises of the capstone, beside the kernel itself: the plan, and a look back."""

from ..grading.exercise import FILL_IN
from ..grading.explain import Explanation
from ..grading.routines import Case, routine

#: How many shared loads a thread makes for each multiplication.
PLAN = routine(
    "plan",
    ("height", "width"),
    Case((1, 1), 2.0, "one element of A and one of B for a single multiplication."),
    Case((2, 2), 1.0, "2 + 2 elements are read, and each element of A is multiplied by each of B."),
    Case((8, 1), 9 / 8, "height and width may differ: 8 elements of A and one of B."),
    Case(
        (8, 16),
        24 / 128,
        "add the elements that are read, and divide by the multiplications that are made with them.",
    ),
    kind=FILL_IN,
)

TOO_LARGE = Explanation(
    name="too-large",
    model="16×16 results are 256 numbers, and a thread has at most 255 registers. It also keeps its fragments and its "
    "indices in them. What does not fit is stored in local memory, which is part of global memory. And a kernel that "
    "needs nearly all 255 registers leaves room for few warps on a multiprocessor, so few can work while one waits.",
    ideas=(
        "16×16 results need 256 registers, and a thread has at most 255",
        "what does not fit goes to local memory",
        "many registers for each thread leave room for few warps",
    ),
)

LOOK_BACK = Explanation(
    name="look-back",
    model="An example: the change from one result to 8×8 results for each thread. Shared loads for each multiplication "
    "fell from 2 to 0.25, so wavefronts fell as well, and executed instructions fell from about 4 to less than 2. The "
    "sectors of global memory depend only on the tile of the block. They fell because the tile grew, too.",
    ideas=(
        "the change is named",
        "a count before and after it is given",
        "a count is named that did not change, or that changed for another reason",
    ),
)

EXERCISES = (PLAN, TOO_LARGE, LOOK_BACK)
OPTIONAL = ()

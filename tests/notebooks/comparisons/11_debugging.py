"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

assert len(flagged("bug")) == 38 and len(bugs) == 100 and not flagged("twin"), "38 of 100, and no twin is reported"
unseen = (
    "product_with_the_transpose",
    "stores_once_per_tile",
    "blocks_split_the_sum",
    "swapped_x_and_y",
    "uninitialised_tile_edge",
    "barrier_after_break",
)
assert set(unseen) < bugs - flagged("bug"), "no tool reports these"
assert wrong_by_luck.any(), "C is wrong here as well"
assert not column_run.findings, "the kernel with the wrong column breaks no rule"

"""What holds for the frames of a block, access by access: they keep the recorded order, and show what was read."""


def check_order(timeline, frame_of):
    """Assert it for frames that show the arrays as they are at their ends; ``frame_of``: the frame of each step.

    No access of an element is moved before an earlier store, and no store before an earlier access; and an element that
    a thread reads is not changed by another thread later in the same frame. Reads and stores of one step are one.
    """
    for array in timeline.trace.arrays.values():
        if array.space == "local":
            continue
        accesses, last, readers = timeline.accesses(array.name), {}, {}
        columns = (accesses.position, accesses.element, accesses.thread, accesses.store, accesses.new)
        for position, element, thread, store, new in zip(*(column.tolist() for column in columns), strict=True):
            frame, changes = frame_of[position - 1], store or new
            accessed, stored = last.get(element, (-1, -1))
            assert frame >= (accessed if changes else stored), f"step {position} is moved before one that it follows"
            for reader, at in readers.get((element, frame), ()) if changes else ():
                assert reader == thread or at == position, f"step {position} hides what thread {reader} has read"
            if not store:
                readers.setdefault((element, frame), set()).add((thread, position))
            last[element] = max(accessed, frame), max(stored, frame) if changes else stored

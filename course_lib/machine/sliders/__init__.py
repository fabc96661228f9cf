"""Pictures with sliders: the cube of a product (lesson 4), a warp's sectors (lesson 6), what an early
load gains and occupancy (lesson 9), the queue of a GPU (lesson 12), the banks of a tile for tensor cores (lesson 16).

    from course_lib import sliders
    sliders.sectors()

Python draws each setting, from the formulas and rules that the course has anyway; the browser shows what it is sent.
A page without a kernel has some settings recorded, and its sliders go from one of these to the next.
"""

from .widget import Sliders, cube, early_load, layout, occupancy, queue, sectors

__all__ = ["Sliders", "cube", "early_load", "layout", "occupancy", "queue", "sectors"]

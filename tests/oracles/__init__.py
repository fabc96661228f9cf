"""References for the tests of the simulator: independent, slow and simple; none of them imports course_lib."""

"""What the simulator is judged by: independent, slow and obvious; none of it imports course_lib."""

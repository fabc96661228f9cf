"""For teachers: what a class needs beside the lessons. ``python -m course_lib.teach`` lists the commands."""

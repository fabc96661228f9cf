"""Figures of what a launch did; `course_lib.figures` offers them with those of measured and modelled things."""

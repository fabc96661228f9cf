"""The course as people get it: lessons as files, pages, slides and sites, editions, and the grading of a class."""

"""``python -m course_lib.gpu``, the name by which recordings call the command ``tile-by-tile gpu``."""

import sys

from .__main__ import main

if __name__ == "__main__":
    sys.exit(main(["gpu", *sys.argv[1:]]))

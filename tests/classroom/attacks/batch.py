"""Grade a folder as the user of this process; what was printed and the exit status tell the test.

python tests/classroom/attacks/batch.py LESSON FOLDER SECONDS
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from course_lib.classroom.teach.command import main  # noqa: E402

if __name__ == "__main__":
    lesson, folder, seconds = sys.argv[1:]
    files = ["--csv", f"{folder}/grades.csv", "--feedback", f"{folder}/feedback", "--seconds", seconds, "--jobs", "2"]
    files += ["--seed", "7"]
    sys.exit(main(["grade", f"{folder}/submitted", "--lesson", lesson, *files]))

"""python -m course_lib.measurements: rewrite the README's table and the pictures in docs/ from the recordings."""

from .report import outputs

if __name__ == "__main__":
    for path, text in outputs().items():
        path.write_text(text, encoding="utf-8")
        print(path.name)

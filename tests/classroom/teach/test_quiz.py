"""The quiz: each key is counted by other means, right answers take all places, and three formats are read back."""

import html
import io
import re
import xml.etree.ElementTree as ET
import zipfile
from collections import Counter
from itertools import count, cycle, islice
from math import ceil

import numpy as np
import pytest
from launches.samples import product
from nightly import every
from numba import cuda, float32

from course_lib import model, simulate
from course_lib.classroom.teach import quiz
from course_lib.classroom.teach.command import main
from course_lib.classroom.teach.quiz_files import WRITERS

TABLE = quiz.table()
LANES = np.arange(32)


def traffic(kernel, M, N, K, **params):
    return product(kernel, M, K, N, **params)().traffic


def loads(kernel, *sizes, **params):
    return traffic(kernel, *sizes, **params).select(space="global", op="load").accesses


def barriers(T):
    """Run a kernel whose second barrier is inside its loop, for one pair of tiles, and count the first warp's waits."""

    @cuda.jit
    def too_deep(A, C):
        tile = cuda.shared.array((T, T), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        tile[y, x] = A[y, x]
        cuda.syncthreads()
        acc = float32(0)
        for k in range(T):
            acc += tile[y, k]
            cuda.syncthreads()
        C[y, x] = acc

    run = simulate(too_deep, trace=True)[1, (T, T)](np.ones((T, T), np.float32), np.ones((T, T), np.float32))
    return sum(step.barrier for step in run.trace.steps if step.warp == 0)


def tiles(*sizes):
    return int(np.prod([len(range(0, size, width)) for size, width in sizes]))


def passes(words):
    return max(Counter(words % 32).values())


def fit(room, need):
    return next(n for n in count() if (n + 1) * need > room)


def reads(R, S=1):
    return len([*range(R), *range(S)]) / np.zeros((R, S)).size


def right_elements(n, T):
    """Multiply with B's column taken from the block's row of tiles, and compare with the product."""
    A, B = np.random.default_rng(n + T).random((2, n, n))
    row, col = np.indices((n, n))
    return int(np.isclose((A[row] * B.T[row // T * T + col % T]).sum(-1), A @ B).sum())


def busy(t, p):
    places = np.zeros((ceil(t / p), p))
    places.flat[:t] = 1
    return round(100 * places.mean(), 1)


#: What each key is, counted without its formula: the simulator, NumPy, or one thing after another.
COUNTED = {
    "00": [
        lambda M, N, K: loads("per_row", M, N, K),
        lambda M, N, K: np.ones((M, K)).size + np.ones((K, N)).size,
        lambda P, n, t: len(range(0, n * n, P * t)),
    ],
    "01": [
        lambda M, N, K: traffic("naive", M, N, K).per_thread(space="global", op="load").max(),
        lambda W, r, c: np.ravel_multi_index((r, c), (9, W)),
        lambda M, N, w, h: sum(y >= M or x >= N for y in range(ceil(M / h) * h) for x in range(ceil(N / w) * w)),
    ],
    "02": [
        lambda M, N, K: loads("naive", M, N, K),
        lambda f: loads("naive", 2 * f, 2 * f, 2 * f) / loads("naive", 2, 2, 2),
        lambda bits: 2 / np.zeros(2, f"f{bits // 8}").nbytes,
    ],
    "03": [
        lambda n: loads("single_block", n, n, n),
        lambda n: traffic("single_block", n, n, n).per_thread(space="shared", op="load").max(),
        lambda n, bits: np.zeros((2, n, n), f"f{bits // 8}").nbytes,
    ],
    "04": [
        lambda K, T: traffic("tiled", T, T, K, tile_width=T).per_thread(space="global", op="load").max(),
        lambda M, N, K: loads("tiled", M, N, K, tile_width=4),
        barriers,
    ],
    "05": [
        lambda s: np.unique(4 * s * LANES // 32).size,
        lambda e, b: np.unique((b * (e + LANES)[:, None] + np.arange(b)) // 32).size,
        lambda w: np.unique(LANES // w * 4096).size,
    ],
    "06": [
        lambda s: passes(s * LANES),
        lambda p: passes(p * LANES),
        lambda p, r, c: (np.arange(20 * p) % 32).reshape(20, p)[r, c],
    ],
    "07": [reads, reads, lambda R, S: np.zeros((R, S)).size + len([*range(R), *range(S)])],
    "08": [
        lambda t, r: fit(65536, t * r),
        lambda t, r: 100 * t * min(fit(65536, t * r), fit(2048, t)) / 2048,
        lambda n, w, u: sum(w - 2 + (2 if step % u == 0 else 0) for step in range(n)),
    ],
    "09": [
        lambda K, T: len(["before", *range(0, K, T)]),
        lambda T: np.zeros((2, 2, T, T), np.float32).nbytes,
        lambda s, i: next(islice(cycle(range(s)), i, None)),
    ],
    "10": [
        lambda w, c: round(100 * np.mean([1] * w + [0] * c), 1),
        lambda w, c: next(n for n in count(1) if n * w >= w + c),
        lambda c, b: sum(b for _ in range(c)),
    ],
    "11": [
        lambda r: len(range(0, r, 4)),
        lambda W: sum(4 * W * row % 16 == 0 for row in range(16)),
        lambda h: 8 * (len({lane % h for lane in range(32)}) + len({lane // h for lane in range(32)})),
    ],
    "12": [
        lambda i, j, b, c: round((c / j) / (b / i), 2),
        lambda R, S, t: np.zeros((R, S)).size / t,
        lambda M, N, R: tiles((M, R), (N, 256)),
    ],
    "13": [
        right_elements,
        lambda n, T: sum(2 * n * n for _ in range(0, n, T) for _ in range(T - 1)),
        lambda n, T: sum(n * n for _ in range(0, n, T)),
    ],
    "14": [
        lambda n: model.flop(n, n, n) / 1e9,
        lambda n, t: model.flop(n, n, n) / (t / 1000) / 1e9,
        lambda f, t: t * model.flop(f, f, f) / model.flop(1, 1, 1),
    ],
    "15": [
        busy,
        lambda n, T: tiles((n + 1, T), (n, T)) - tiles((n, T), (n, T)),
        lambda n, s: np.zeros((s, n, n), bool).size,
    ],
    "16": [
        lambda m, n, k: np.zeros((m, n, k)).size,
        lambda r, c: np.tile(LANES.reshape(8, 4), (2, 2))[r, c],
        lambda P, Q, k: tiles((P, 16), (Q, 8), (k, 8)),
    ],
    "17": [
        lambda n, k: np.zeros((64, n, k)).size,
        lambda n: np.zeros((64, n)).size / 128,
        lambda p, r: sum(bit for bit in (1, 2, 4) if bool(p & bit) != bool(r & bit)),
    ],
    "18": [
        lambda R, S, D: np.zeros((2, D, R + S), np.float32).nbytes,
        reads,
        lambda k, t: min(fit(228, k), fit(2048, t)),
    ],
}
lessons = pytest.mark.parametrize("lesson", TABLE)


@lessons
def test_each_key_is_counted_by_other_means(lesson):
    """For all numbers that a seed can choose; there are at least three choices, and four different answers."""
    for row, counted in zip(TABLE[lesson]["question"], COUNTED[lesson], strict=True):
        found = quiz.draws(row)
        assert len(found) >= 3
        for values, (right, *wrong) in found:
            assert counted(**values) == pytest.approx(right, rel=1e-12), (row["ask"], values)
            assert right not in wrong and len(set(wrong)) == 3


@pytest.mark.parametrize("lesson", every(4, TABLE))
def test_right_answers_take_all_places_equally_often(lesson):
    """Of seeds 0 to 7 each question has two at each letter; its numbers differ between seeds."""
    made = [quiz.quiz(lesson, seed) for seed in range(8)]
    for questions in zip(*made, strict=True):
        assert Counter(each.right for each in questions) == dict.fromkeys(range(4), 2)
        assert all(len(each.answers) == len(set(each.answers)) == 4 for each in questions)
    assert len({str(questions[:3]) for questions in made}) > 4
    assert made[5] == quiz.quiz(lesson, 5)


@lessons
def test_a_line_that_is_right_does_what_is_asked(lesson):
    """By the text of the line: shared arrays are those that the kernel declares, global ones its parameters."""
    code, made, statements = quiz.lines_of(TABLE[lesson]["line"])
    arrays = {
        "global": re.search(r"def \w+\((.*)\)", code)[1].split(", "),
        "shared": re.findall(r"(\w+) = cuda\.shared\.array", code),
    }
    for (space, op), lines in made.items():
        for line in statements:
            target, _, value = re.sub(r"\w+\.shape\S*|#.*", "", line).partition("=")
            if re.match(r"(if|for|while)\b", line):
                target, value = "", line
            side = target if op == "store" else value + (target if target.rstrip()[-1:] in tuple("+*") else "")
            named = any(re.search(rf"\b{array}\[", side) for array in arrays[space])
            assert named == (line in lines), (line, space, op)


def read_back(platform, data):
    """Return (text, answers with what each says, key) of each question, by the names that a platform's importer reads.

    Moodle's is its question/format/xml/format.php; Canvas converts QTI 1.2 by its QTIMigrationTool, whose conditions
    set the score after the feedback, and takes a package for 2.1 by the words of its manifest's schema.
    """

    def plain(element):
        text = html.unescape("".join(element.itertext()))
        return re.sub("<pre>.*?</pre>|<[^>]+>", "", text, flags=re.DOTALL).strip()

    def every(element, path):
        return element.findall(f".//{{*}}{path}")

    if platform == "moodle":
        for item in ET.fromstring(data).findall("question[@type='multichoice']"):
            found = item.findall("answer")
            answers = [(plain(answer.find("text")), plain(answer.find("feedback/text"))) for answer in found]
            yield plain(item.find("questiontext/text")), answers, [a.get("fraction") for a in found].index("100")
        return
    package = zipfile.ZipFile(io.BytesIO(data))
    manifest = ET.fromstring(package.read("imsmanifest.xml"))
    ids = [element.get("identifier") for element in manifest.iter() if "identifier" in element.attrib]
    assert len(ids) == len(set(ids)), "two elements have one xsd:ID"
    assert every(manifest, "schema")[0].text.startswith("QTIv2.") == (platform == "qti")
    files = [file.get("href") for file in every(manifest, "file")]
    assert files == package.namelist()[1:]
    trees = [ET.fromstring(package.read(name)) for name in files]
    text, choice, told, ident, key = {
        "canvas": ("presentation/{*}material", "response_label", "itemfeedback", "ident", "varequal"),
        "qti": ("itemBody/{*}p", "simpleChoice", "modalFeedback", "identifier", "correctResponse/{*}value"),
    }[platform]
    for item in trees if platform == "qti" else every(trees[0], "item"):
        said = {element.get(ident)[0]: plain(element) for element in every(item, told)}
        answers = {element.get(ident): plain(element) for element in every(item, choice)}
        right = list(answers).index(every(item, key)[-1].text)
        yield plain(every(item, text)[0]), [(a, said.get(letter, "")) for letter, a in answers.items()], right


@pytest.mark.parametrize("platform", WRITERS)
def test_a_file_is_read_back(platform):
    """Each question with its answers in their order, what is said of each, and the key; twice the same bytes."""
    questions = quiz.quiz("05", 7)
    _, write = WRITERS[platform]
    made = write("Lesson 05", questions)
    assert made == write("Lesson 05", questions)
    wanted = [(each.ask.replace("`", ""), [(a.strip(), s) for a, s in each.answers], each.right) for each in questions]
    assert list(read_back(platform, made)) == wanted


def test_the_command_writes_a_file(tmp_path, monkeypatch):
    """Where it is told to; else beside those for other platforms."""
    monkeypatch.chdir(tmp_path)
    assert {main(["quiz", "4", "--seed", "7", "--for", platform]) for platform in WRITERS} == {0}
    assert len([*tmp_path.iterdir()]) == len(WRITERS)
    assert main(["quiz", "4", "--seed", "7", "--for", "moodle", "--out", str(tmp_path / "new" / "quiz.xml")]) == 0
    assert len(ET.parse(tmp_path / "new" / "quiz.xml").getroot()) == 6

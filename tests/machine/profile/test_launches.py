"""Every launch of a program is judged: what is found in any of them reaches the report and the exit status."""

import json
import re
import sys

import nightly
import numpy as np
import pytest
from numba import cuda

from course_lib.__main__ import main
from course_lib.machine.machine_code.identity import kernel_key
from course_lib.machine.profile import launch_handler, profile
from course_lib.machine.profile.kernel_files import load
from course_lib.machine.programs.launches import Launches, Policy
from course_lib.machine.programs.stand_ins import without_device

HEAD = "import numpy as np\nfrom numba import cuda, float32\n\n\n"
PUT = """
@cuda.jit
def put(x, i, n):
    t = cuda.grid(1)
    if t < n:
        x[i[t]] = t
"""
MOVED = """
def moved(at):
    @cuda.jit
    def put(x):
        i = cuda.grid(1)
        x[at(i)] = 1
    return put
"""
AT = "at = cuda.jit(device=True)"


def reported(tmp_path, capsys, text, *options):
    """Return the exit status of the command for a script, and what it prints as JSON."""
    path = tmp_path / "script.py"
    path.write_text(HEAD + text, encoding="utf-8")
    capsys.readouterr()
    status = main(["profile", str(path), "--json", *options])
    out = capsys.readouterr().out
    return status, json.loads(out)


#: A script; what is found in it: (kind or count, launches that have it, the first of them).
SCRIPTS = {
    "other values": (
        PUT + "for i in (np.arange(32), np.arange(32) // 2, np.arange(32) + 9, np.arange(32) // 2):\n"
        "    put[1, 32](np.zeros(32), i, 32)\n",
        [("race", 2, 2), ("out-of-bounds", 1, 3)],
    ),
    "both at once": (
        PUT + "put[1, 32](np.zeros(32), np.arange(32), 32)\nput[1, 32](np.zeros(32), np.arange(32) // 2 + 20, 32)\n",
        [("race", 1, 2), ("out-of-bounds", 1, 2)],
    ),
    "another grid": (
        PUT + "for g in (1, 1, 2, 1):\n    put[g, 32](np.zeros(64), np.arange(64) % 32, 64)\n",
        [("race", 1, 3)],
    ),
    "another number": (
        PUT + "for n in range(1, 34):\n    put[1, 64](np.zeros(32), np.arange(64), n)\n",
        [("out-of-bounds", 1, 33)],
    ),
    "another shape": (
        PUT + "for n in range(63, 20, -1):\n    put[1, 32](np.zeros(n), np.arange(32), 32)\n",
        [("out-of-bounds", 11, 33)],
    ),
    "a constant of a factory": (
        "def made(by):\n    @cuda.jit\n    def put(x):\n        x[cuda.grid(1) + by] = 1\n    return put\n"
        "for by in (0, 0, 1):\n    made(by)[1, 32](np.zeros(32))\n",
        [("out-of-bounds", 1, 3)],
    ),
    "kernels after twenty others": (
        "def made(by):\n    @cuda.jit\n    def put(x):\n        x[cuda.grid(1) - by] = 1\n    return put\n"
        "for by in range(-24, 2):\n    made(by)[1, 32](np.zeros(56))\n",
        [("negative-index", 1, 26)],
    ),
    "an array of a factory": (
        "def made(table):\n    @cuda.jit\n    def put(x):\n        x[table[cuda.grid(1)]] = 1\n    return put\n"
        "for table in (np.arange(32), np.arange(32) // 2):\n    made(table)[1, 32](np.zeros(32))\n",
        [("race", 1, 2)],
    ),
    "a device function of a factory": (
        MOVED + f"{AT}(lambda i: i)\nup = cuda.jit(device=True)(lambda i: i + 1)\n"
        "for each in (at, up):\n    moved(each)[1, 32](np.zeros(32))\n",
        [("out-of-bounds", 1, 2)],
    ),
    "a constant of a device function": (
        MOVED + "def up(by):\n    @cuda.jit(device=True)\n    def at(i):\n        return i + by\n    return at\n"
        "for by in (0, 1):\n    moved(up(by))[1, 32](np.zeros(32))\n",
        [("out-of-bounds", 1, 2)],
    ),
    "a default of a device function": (
        MOVED
        + "def up(by):\n    @cuda.jit(device=True)\n    def at(i, more=by):\n        return i + more\n    return at\n"
        "for by in (0, 1):\n    moved(up(by))[1, 32](np.zeros(32))\n",
        [("out-of-bounds", 1, 2)],
    ),
    "modules of one text": (
        "import one, other\none.go()\nother.go()\n",
        [("out-of-bounds", 1, 2)],
    ),
    "a launch in another module": (
        "import helper\nfrom helper import put\nput[1, 32](np.zeros(32))\nhelper.go(31)\n",
        [("out-of-bounds", 1, 2)],
    ),
    "texts that are executed": (
        "import linecache\nfor by in (0, 1):\n"
        "    text = f'@cuda.jit\\ndef put(x):\\n    x[cuda.grid(1) + {by}] = 1\\n'\n"
        "    linecache.cache[f'<text {by}>'] = len(text), None, text.splitlines(True), f'<text {by}>'\n"
        "    names = {'cuda': cuda}\n    exec(compile(text, f'<text {by}>', 'exec'), names)\n"
        "    names['put'][1, 32](np.zeros(32))\n",
        [("out-of-bounds", 1, 2)],
    ),
    "a constant that changes": (
        "S = 2\n@cuda.jit\ndef put(x):\n    x[cuda.grid(1)] = S\n"
        "put[1, 4](np.zeros(4))\nS = 7\nput[1, 4](np.zeros(4))\nput[1, 4](np.zeros(4))\n",
        [("changed-constant", 2, 2)],
    ),
    "a constant of a device function that changes": (
        f"S = 2\n{AT}(lambda i: i * S)\n@cuda.jit\ndef put(x):\n    x[cuda.grid(1)] = at(1)\n"
        "put[1, 4](np.zeros(4))\nS = 7\nput[1, 4](np.zeros(4))\n",
        [("changed-constant", 1, 2)],
    ),
    "an array that changes": (
        "S = np.zeros(4)\n@cuda.jit\ndef put(x):\n    x[cuda.grid(1)] = S[cuda.grid(1)]\n"
        "put[1, 4](np.zeros(4))\nS[1] = 7\nput[1, 4](np.zeros(4))\n",
        [("changed-constant", 1, 2)],
    ),
    "a negative index": (
        PUT + "put[1, 32](np.zeros(32), np.arange(32), 32)\nput[1, 32](np.zeros(32), np.arange(32) - 1, 32)\n",
        [("negative-index", 1, 2)],
    ),
    "a gather": (
        PUT + "put[1, 32](np.zeros(4096), np.arange(32), 32)\nput[1, 32](np.zeros(4096), 99 * np.arange(32), 32)\n",
        [("sectors", 1, 2)],
    ),
}
MODULES = {
    "one": "BY = 0\n@cuda.jit\ndef put(x):\n    x[cuda.grid(1) + BY] = 1\ndef go():\n    put[1, 32](np.zeros(32))\n",
    "helper": "@cuda.jit\ndef put(x):\n    x[cuda.grid(1)] = 1\ndef go(n):\n    put[1, 32](np.zeros(n))\n",
}
MODULES["other"] = MODULES["one"].replace("BY = 0", "BY = 1")


@pytest.fixture
def launched(tmp_path, monkeypatch):
    """Return a function that runs a script in this process, and returns its launches."""

    def run(text):
        for module, words in MODULES.items():
            monkeypatch.delitem(sys.modules, module, raising=False)
            (tmp_path / f"{module}.py").write_text(HEAD + words, encoding="utf-8")
        path = tmp_path / "script.py"
        path.write_text(HEAD + text, encoding="utf-8")
        every = Launches(launch_handler.ProfilingHandler(), Policy(goes_on=True), max_steps=500)
        with without_device(every.launch, print):
            assert not load(path).failures
        return every

    return run


def kind_of(problem):
    return getattr(problem, "kind", None) or problem.count


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_findings_of_every_launch_are_kept(name, launched):
    """Each once, with the number of launches that have it and the first of them, which has a verdict of its own."""
    text, wanted = SCRIPTS[name]
    done = launched(text)

    found = [(kind_of(each.problem), each.launches, each.first.number) for each in done.found.values()]
    assert sorted(found) == sorted(wanted)
    firsts = {each.first.number: each.verdict for each in done.every}
    for kind, _, first in wanted:
        assert kind in {kind_of(each) for each in (*firsts[first].run.findings, *firsts[first].slow)}
        assert firsts[first].verdict().word != "RIGHT"
    assert sum(each.times for each in done.every) + done.more == done.number


STATUSES = ["other values", "kernels after twenty others", "a gather", "a constant that changes"]


@pytest.mark.parametrize("name", nightly.every(2, STATUSES))
def test_what_is_found_is_the_status(name, tmp_path, capsys):
    """And in what is printed, as data."""
    text, wanted = SCRIPTS[name]
    status, data = reported(tmp_path, capsys, text)
    found = [
        (each.get("kind", each.get("count")), each["launches"], each["first"]["number"]) for each in data["findings"]
    ]
    assert sorted(found) == sorted(wanted)
    assert status == (0 if name == "a gather" else 1) and data["clean"] == (status == 0)
    verdicts = {each["first"]["number"]: each["verdict"] for each in data["launches"]}
    assert "RIGHT" not in {verdicts[first] for *_, first in wanted}


def test_the_page_has_each_launch_in_which_something_is_found(tmp_path, capsys):
    """With its own verdict, its place and a stepper."""
    path, page = tmp_path / "script.py", tmp_path / "page.html"
    path.write_text(HEAD + SCRIPTS["other values"][0], encoding="utf-8")
    assert main(["profile", str(path), "--html", str(page)]) == 1
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"<h2>put[^<]*: (\w+)</h2>", text) == ["RIGHT", "WRONG", "WRONG"]
    assert "launch 2, in line" in text and "launch 3, in line" in text
    assert text.count('class="tile-by-tile-state"') == 3


def test_the_number_of_launches_with_a_finding_is_right(launched):
    """Of 40 launches with random indices: those that NumPy finds twice, and those below 0."""
    rng = np.random.default_rng(3)
    indices = [rng.permutation(64)[:32] if n % 3 else rng.integers(0, 64, 32) for n in range(40)]
    indices = [each - 1 if n % 5 == 4 else each for n, each in enumerate(indices)]
    done = launched(PUT + f"for i in {np.array(indices).tolist()}:\n    put[1, 32](np.zeros(64), np.array(i), 32)\n")

    twice = sum(len(np.unique(each % 64)) < 32 for each in indices)
    below = sum(bool((each < 0).any()) for each in indices)
    assert 0 < twice < 40 and 0 < below < 40
    found = {each.problem.kind: each.launches for each in done.found.values() if hasattr(each.problem, "kind")}
    assert found == {"race": twice, "negative-index": below}
    assert sum(each.times for each in done.every) + done.more == done.number == 40


def test_the_launch_is_told(tmp_path, capsys):
    """Its number, its line and its arguments, as text; in how many launches the same was found."""
    path = tmp_path / "script.py"
    text = PUT + "i = np.arange(32)\nfor n in (32, 32, 31):\n    put[1, 32](np.zeros(n, np.int32), i + 32 - n, 32)\n"
    text += "put[1, 32](np.ones(9), i, 32)\n"
    path.write_text(HEAD + text, encoding="utf-8")
    line = (HEAD + text).splitlines().index("for n in (32, 32, 31):") + 2

    assert main(["profile", str(path)]) == 1
    out = capsys.readouterr().out
    assert re.search(
        rf"^  launch 3, in line {line}: x int32\[31\], i int64\[32\], n=32 \(in 2 launches", out, re.MULTILINE
    )
    assert re.search(r"^put \[1, 32\]  WRONG  as put \[1, 32\], launch 3$", out, re.MULTILINE)


@cuda.jit
def put_one(x, i):
    x[i[cuda.grid(1)]] = 1


def test_equal_launches_are_profiled_once(monkeypatch):
    """The costly work is done for each launch that differs, and again when something new is found."""
    profiled = []

    def cheaper(launch, registers, gpu, *rest):
        profiled.append(launch)
        return launch_handler.preliminary_profile(launch, registers, gpu)

    monkeypatch.setattr(launch_handler, "full_profile", cheaper)
    every = Launches(launch_handler.ProfilingHandler())
    for n in range(30):
        every.launch(put_one, 1, 32, 0, [np.zeros(32), np.arange(32) % (32 - (n == 20))])
    assert len(profiled) == 2
    assert [(each.times, each.verdict.verdict().word) for each in every.every] == [(29, "RIGHT"), (1, "WRONG")]


def test_a_program_that_is_stopped_while_a_launch_is_profiled_keeps_its_findings(monkeypatch):
    """They are known before the costly work begins."""

    def stopped(*arguments):
        raise KeyboardInterrupt

    @cuda.jit
    def one_too_many(x):
        x[cuda.grid(1)] = 1

    monkeypatch.setattr(launch_handler, "full_profile", stopped)
    every = Launches(launch_handler.ProfilingHandler())
    with pytest.raises(KeyboardInterrupt):
        every.launch(one_too_many, 1, 32, 0, [np.zeros(31)])
    assert [each.verdict.verdict().word for each in every.every] == ["WRONG"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("for f in (1, 0):\n    spin[1, 1](np.zeros(1), np.full(1, f))\n", ["RIGHT", "WRONG"]),
        (
            "a = np.zeros(1, np.int64)\nspin[1, 1](np.zeros(1, np.int64), a + 1)\nspin[1, 1](a, a)\n",
            ["RIGHT", "REFUSED"],
        ),
        ("spin[1, 2000](np.zeros(1), np.ones(1))\nspin[1, 1](np.zeros(1), np.zeros(1))\n", ["REFUSED", "WRONG"]),
    ],
)
def test_a_later_launch_that_stops_or_is_refused(text, words, launched):
    """It is told, whatever a launch of the same shapes did before."""
    spin = "@cuda.jit\ndef spin(x, f):\n    while f[0] == 0:\n        x[0] += 1\n"
    done = launched(spin + text)
    assert [each.verdict.verdict().word if each.verdict else "REFUSED" for each in done.every] == words


@pytest.mark.parametrize(
    ("options", "status"),
    [  # a launch has 8 sectors of i and 8 of x, and 24 more if it is scattered
        (["--max-sectors", "16"], 1),
        nightly.at_night(["--max-sectors", "40"], 0),
        nightly.at_night([], 0),
        nightly.at_night(["--fail-on", "warning"], 1),
    ],
)
def test_a_budget_holds_for_every_launch(tmp_path, capsys, options, status):
    """Also for one of the shapes and numbers of an earlier one, and for warnings if they are asked for."""
    text = PUT + "for by in (1, 99, 1):\n    put[1, 32](np.zeros(4096), by * np.arange(32), 32)\n"
    assert reported(tmp_path, capsys, text, *options)[0] == status


# --- what is wrong comes first ------------------------------------------------------------------------------------

WRAPPED = {
    "alone": ("o[i] = x[i - 1]", "SUSPECT", ["negative-index"]),
    "float64": ("o[i] = x[i - 1] * 0.5", "SUSPECT", ["negative-index", "float64"]),
    "float64 in an earlier line": (
        "y = x[i] * 0.5\n        o[i] = x[i - 1] + y",
        "SUSPECT",
        ["negative-index", "float64"],
    ),
    "slow": ("x[i] = o[32 * i - 1]", "SUSPECT", ["negative-index", "sectors"]),
    "wrong": ("x[i] = x[i - 1]\n        x[0] = 1", "WRONG", ["race", "negative-index"]),
    "outside": ("x[i + 1] = o[i - 1] + 0.5", "WRONG", ["out-of-bounds", "negative-index", "float64"]),
    "one": ("o[i] = x[i - 1] + x[-1]", "SUSPECT", ["negative-index"]),
    "stored": ("x[i - 1] = 1", "SUSPECT", ["negative-index"]),
}


def kinds(problems):
    return [*dict.fromkeys(map(kind_of, problems))]


@pytest.mark.parametrize("name", nightly.every(3, WRAPPED))
def test_what_changes_values_is_told_before_what_costs_time(name, tmp_path, capsys):
    """Of one kernel of a file, in a script, and in Python; and it is the exit status."""
    body, word, wanted = WRAPPED[name]
    kernel = f"@cuda.jit\ndef kernel(x, o):\n    i = cuda.grid(1)\n    if i < 32:\n        {body}\n"
    launch = "x, o = np.ones(32, np.float32), np.ones(1024, np.float32)\nkernel[1, 32](x, o)\n"
    path = tmp_path / "script.py"
    path.write_text(HEAD + kernel + launch, encoding="utf-8")
    made = ["--grid", "1", "--block", "32", "--array", "x=ones:float32:32", "--array", "o=ones:float32:1024"]
    for options in ([f"{path}:kernel", *made], *([[str(path)]] if name in ("slow", "wrong") else [])):
        assert main(["profile", *options, "--allow", "negative-index"]) == (word == "WRONG")
        capsys.readouterr()
        assert main(["profile", *options]) == 1
        head, rest = capsys.readouterr().out.split("\n", 1)
        assert head.startswith(f"kernel [1, 32]  {word}  ") and wanted[0] in head
        assert all((kind if kind != "sectors" else "slow") in rest for kind in wanted[1:])
    plain = load(path).kernel("kernel")
    verdict = profile(plain, 1, 32, np.ones(32, np.float32), np.ones(1024, np.float32)).verdict()
    assert verdict.word == word and kinds(verdict.problems)[0] == wanted[0]
    assert set(wanted) <= set(kinds(verdict.problems))


def test_an_index_that_counts_from_the_end_is_right(tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text(HEAD + "@cuda.jit\ndef kernel(x, o):\n    o[cuda.grid(1)] = x[-1]\n", encoding="utf-8")
    made = ["--grid", "1", "--block", "32", "--array", "x=ones:float32:32", "--array", "o=ones:float32:32"]
    assert main(["profile", f"{path}:kernel", *made]) == 0


def test_every_problem_is_told_or_allowed():
    """The first in the sentence, the others after it; those of an allowed kind are left out."""

    @cuda.jit
    def many(x, o):
        i = cuda.grid(1)
        x[i] = o[32 * i - 1] * 0.5
        x[i - 1] = o[i] * 0.5
        x[i + 1] = 1

    def judged(*allowed):
        return profile(many, 1, 32, np.ones(32, np.float32), np.ones(1024, np.float32)).verdict(allowed)

    verdict = judged()
    run_kinds = {"race", "out-of-bounds", "negative-index", "float64", "sectors"}
    assert set(kinds(verdict.problems)) == run_kinds and verdict.word == "WRONG"
    assert len(verdict.also) == len(run_kinds) - 1 + (
        len({e.key for e in verdict.problems if kinds([e]) == ["race"]}) > 1
    )
    assert judged("race", "out-of-bounds").word == "SUSPECT"
    assert judged("race", "out-of-bounds", "negative-index").word == "SLOW"
    assert "negative-index" not in kinds(judged("negative-index").problems)


# --- the identity of a kernel -------------------------------------------------------------------------------------


def factory(constant=0, inner=None, kind=np.float32):
    @cuda.jit(device=True)
    def helper(i, more=constant):
        return inner(i) if inner is not None else i

    @cuda.jit
    def kernel(x):
        tile = cuda.shared.array(32, kind)
        tile[helper(0)] = x[0]

    return kernel


def test_kernels_are_one_if_they_compute_the_same():
    """A key depends on what a kernel reads, not on when it was defined."""

    def twice(i):
        return 2 * i

    again = [factory(), factory(0), factory(inner=twice), factory(1), factory(kind=np.float64), factory(np.arange(3))]
    assert kernel_key(factory()) == kernel_key(factory(0)) and hash(kernel_key(factory())) == hash(
        kernel_key(factory())
    )
    assert kernel_key(factory(np.arange(3))) == kernel_key(factory(np.arange(3)))
    assert len({kernel_key(each) for each in again}) == len(again) - 1
    plain = factory().py_func
    options = [cuda.jit(plain), cuda.jit(fastmath=True)(plain), cuda.jit(debug=True, opt=False)(plain)]
    assert len({kernel_key(each) for each in options}) == 3


def test_a_device_function_may_call_itself():
    """The key of a recursive function ends."""

    @cuda.jit(device=True)
    def down(n):
        return n if n < 1 else down(n - 1)

    @cuda.jit
    def kernel(x):
        x[0] = down(3)

    assert kernel_key(kernel) == kernel_key(kernel)

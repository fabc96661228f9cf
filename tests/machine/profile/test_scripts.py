"""``tile-by-tile profile script.py``: a script runs without a GPU, and each of its launches is profiled."""

import json
import re
from pathlib import Path

import nightly
import pytest
import yaml
from numba import cuda

from course_lib.__main__ import main

SCRIPT = """
import sys

import numpy as np
from numba import cuda
from numba.cuda import to_device


def maker(factor):
    @cuda.jit
    def scaled(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = factor * x[i]

    return scaled


@cuda.jit
def sum_in_a_race(x, out):
    out[0] += x[cuda.grid(1)]


@cuda.jit
def listed(x):
    x[0] = sorted([1, 2])[0]


if __name__ == "__main__":
    double = maker(2)
    stream = cuda.stream()
    x = to_device(np.arange(100, dtype=np.int32), stream=stream)
    out = cuda.device_array_like(x)
    begin = cuda.event()
    begin.record(stream)
    for _ in range(3):
        double[4, 32, stream](x, out)
    cuda.synchronize()
    assert out.copy_to_host().tolist() == list(range(0, 200, 2))
    double.forall(50)(x[:50], out[50:])
    half = np.empty(50, np.int32)
    out[50:].copy_to_host(half)
    assert half.tolist() == list(range(0, 100, 2)), half
    total = to_device(np.zeros(1, np.int32))
    sum_in_a_race[1, 64](x, total)
    double[1, 2000](x, out)
    listed[1, 1](x)
    with open(sys.argv[0] + ".done", "w") as file:
        file.write(cuda.get_current_device().name.decode())
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "my_script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    return path


def test_each_launch_is_profiled(script, capsys):
    """With its own results, on arrays of the host; equal launches are one, and numba is as before after that.

    A launch that is refused does not end the script, and nor does a kernel.
    """
    before = {name: getattr(cuda, name) for name in ("jit", "to_device", "stream", "is_available")}
    status = main(["profile", str(script), "--json"])
    out, err = capsys.readouterr()
    launches = json.loads(out)["launches"]

    assert status == 1
    assert [(each["launch"], each["times"], each["verdict"]) for each in launches] == [
        ("scaled [4, 32], 3 times", 3, "RIGHT"),
        ("scaled [1, 128]", 1, "RIGHT"),
        ("sum_in_a_race [1, 64]", 1, "WRONG"),
        ("scaled", 1, "REFUSED"),
        ("listed", 1, "REFUSED"),
    ]
    assert [each["totals"]["accesses"] for each in launches[:3]] == [200, 100, 192]
    assert [{finding["kind"] for finding in each["findings"]} for each in launches[:3]] == [set(), set(), {"race"}]
    assert launches[2]["repair"]["changes"][0]["id"] == "atomic"
    assert "a GPU allows at most 1,024 a block" in launches[3]["says"] and "sorted" in launches[4]["says"]
    assert (script.parent / "my_script.py.done").read_text() == "NVIDIA H200"
    assert {name: getattr(cuda, name) for name in before} == before
    assert not isinstance(cuda.jit(lambda x: None)[1, 1], type(lambda: None))


def test_the_text_and_the_page(script, capsys, tmp_path):
    """One verdict a launch, with no colour in a pipe; the page has every launch, the tables come after --all."""
    page = tmp_path / "page.html"
    assert main(["profile", str(script), "--html", str(page)]) == 1
    out = capsys.readouterr().out

    assert re.findall(r"^(\w+).*  (RIGHT|SLOW|WRONG|REFUSED)  ", out, re.MULTILINE) == [
        ("scaled", "RIGHT"),
        ("scaled", "RIGHT"),
        ("sum_in_a_race", "WRONG"),
        ("scaled", "REFUSED"),
        ("listed", "REFUSED"),
    ]
    assert "\033" not in out
    text = page.read_text(encoding="utf-8")
    assert [word for _, word in re.findall(r"<h2>(\w+)[^<]*: (\w+)</h2>", text)][1:] == [
        "RIGHT",
        "WRONG",
        *["REFUSED"] * 2,
    ]
    assert text.count('class="tile-by-tile-state"') == 3
    assert main(["profile", str(script), "--all"]) == 1
    assert re.findall(r"^--- (.*)\n(\w+)", capsys.readouterr().out, re.MULTILINE)[2] == (
        "Launch 3 of 5",
        "sum_in_a_race",
    )


@pytest.mark.nightly
def test_of_several_scripts_each_launch_says_its_own(tmp_path, capsys):
    """Each launches a kernel of one name: only the file tells them apart, as text, as tables and as JSON."""
    slow = "import numpy as np\nfrom numba import cuda, float32\n\n@cuda.jit\ndef flat(x):\n"
    slow += "    tile = cuda.shared.array(1024, float32)\n    t = cuda.threadIdx.x\n    tile[t * 32] = x[t]\n"
    slow += "    x[t] = tile[t * 32]\n\nflat[1, 32](np.ones(32, np.float32))\n"
    names = [str(tmp_path / name) for name in ("one.py", "two.py")]
    for name in names:
        Path(name).write_text(slow, encoding="utf-8")

    assert main(["profile", *names]) == 0
    said = capsys.readouterr().out
    assert re.findall(r"^(.*): flat \[1, 32\]  SLOW", said, re.MULTILINE) == names
    assert said.count(" SLOW  line ") == 2 and "1 would do (a 32-way bank conflict)" in said
    assert said.count("  no repair is known\n") == 2

    assert main(["profile", *names, "--all"]) == 0
    told = capsys.readouterr().out
    assert re.findall(r"^--- (.*)", told, re.MULTILINE) == [
        f"Launch {n} of 2: {name}" for n, name in enumerate(names, 1)
    ]
    assert "Findings\n  line 8: 32 wavefronts" in told and "  None\n" not in told

    assert main(["profile", *names, "--json"]) == 0
    launches = json.loads(capsys.readouterr().out)["launches"]
    assert [each["script"] for each in launches] == names


@pytest.mark.parametrize(("wanted", "status"), [("31", 1), nightly.at_night("32", 0)])
def test_a_script_has_its_arguments_and_an_assertion_that_fails_is_the_status(wanted, status, tmp_path, capfd):
    """As with other tools that run a script."""
    path = tmp_path / "asserts.py"
    text = "import sys\nimport numpy as np\nfrom numba import cuda\n@cuda.jit\ndef one(x):\n    x[cuda.grid(1)] = 1\n"
    path.write_text(f"{text}x = np.zeros(32)\none[1, 32](x)\nassert x.sum() == int(sys.argv[2])\n")

    assert main(["profile", str(path), "--json", "--", "--sum", wanted]) == status
    out, err = capfd.readouterr()
    data = json.loads(out)
    assert data["clean"] == (not status) and ("AssertionError" in err) == bool(status)
    assert [each["verdict"] for each in data["launches"]] == ["RIGHT"]
    assert [each["status"] for each in data["programs"]] == [status]


def test_a_verdict_is_told_once(tmp_path, capsys):
    """A loop over sizes repeats it; and a script without launches hides no other script's, but the status tells.

    Statements that fail are left out here, as the option says.
    """
    for name, text in (
        ("sizes.py", "for n in 1, 2, 3, 1:\n    double[n, 32](np.ones(32 * n, np.float32))\n"),
        ("words.py", "double[1, 32](x=np.ones(32))\ndouble[1](np.ones(32))\n"),
    ):
        begin = "import numpy as np\nfrom numba import cuda\n@cuda.jit\ndef double(x):\n    x[cuda.grid(1)] *= 2.5\n"
        (tmp_path / name).write_text(begin + text, encoding="utf-8")

    assert main(["profile", "--skip-failing", *(str(tmp_path / name) for name in ("sizes.py", "words.py"))]) == 2
    out, err = capsys.readouterr()
    assert out.count("  repair: ") == 1 and len(re.findall(r"  SLOW  as\s+double\s+\[1,\s+32\]\n", out)) == 2
    assert "line 6, TypeError: a kernel takes no arguments by name" in err and "words.py made no launch" in err
    assert "line 7, ValueError: a launch takes the grid and the block" in err


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("print(1)", [], "made no launch: let it pass NumPy arrays"),
        ("print(1)", ["--launch", "f"], "--launch and --check-all need a kernel"),
        ("print(1)", ["--grid", "1"], "A script gives grid, block and arguments"),
        ("print(1)", ["--shared-bytes", "8"], "leave out --shared-bytes"),
        ("print(1)", ["--registers", "300"], "a thread has 1 to 255 registers, not 300."),
        ("print(1)", ["--limit", "0"], "--limit is 0; it is a number of seconds above 0"),
        ("print(", [], "line 1, is not Python"),
    ],
)
def test_wrong_words(tmp_path, capsys, text, options, message):
    """One sentence, and the status 2."""
    path = tmp_path / "other.py"
    path.write_text(text, encoding="utf-8")

    assert main(["profile", str(path), *options]) == 2
    assert message in capsys.readouterr().err.splitlines()[-1]


def test_the_readme_shows_what_the_command_prints(capsys):
    """Of the script that it names; a line that ends in … goes on."""
    root = Path(__file__).parents[3]
    command, shown = re.search(
        r"^\$ uv run tile-by-tile (.*)\n((?:.+\n)+)```", (root / "README.md").read_text("utf-8"), re.MULTILINE
    ).groups()
    what, name = command.split()
    assert main([what, str(root / name)]) == 1
    printed = capsys.readouterr().out.splitlines()

    for line in shown.splitlines():
        assert any(each.startswith(line.removesuffix("…")) for each in printed), line


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["pre-commit", "workflow"])
def test_the_documentation_s_hook_and_workflow_run(name, tmp_path, monkeypatch, capsys):
    """What each of them calls fails for a race and passes a right kernel."""
    text = (Path(__file__).parents[3] / "docs" / "profile.md").read_text("utf-8")
    hook, workflow = map(yaml.safe_load, re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    if name == "pre-commit":
        (made,) = hook["repos"][0]["hooks"]
        call = [*made["entry"].split(), "examples/my_script.py"]
        assert re.search(made["files"], call[-1])
    else:
        call = workflow["jobs"]["kernels"]["steps"][-1]["run"].split()
        call = call[call.index("tile-by-tile") :]
    assert call[0] == "tile-by-tile"
    monkeypatch.chdir(tmp_path)
    for race in (True, False):
        call[-1] = call[-1].replace(".py", "_again.py")  # Python keeps the text of a file by its name
        script = tmp_path / call[-1]
        script.parent.mkdir(exist_ok=True)
        begin = "from numba import cuda\nimport numpy as np\n@cuda.jit\ndef kernel(x):\n"
        script.write_text(
            f"{begin}    x[{0 if race else 'cuda.grid(1)'}] += 1\nkernel[1, 64](np.zeros(64, np.int32))\n"
        )
        assert main(call[1:]) == race

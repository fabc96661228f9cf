"""NVIDIA's compiler and its recordings: the code of a kernel, and the emulator that runs it."""

import inspect
import linecache
import types

import numpy as np
import pytest
import recorded
from nightly import at_night
from numba import cuda, float32, uint64
from oracles.sources import import_module

from course_lib import lazy
from course_lib.kernels import LADDER, rung, variants
from course_lib.machine import measurements
from course_lib.machine.machine_code import NoMachineCode, available, compiling, find, machine_code, run_block
from course_lib.machine.machine_code.identity import digest, functions_of, outline
from course_lib.machine.machine_code.instructions import (
    MachineCode,
    MachineInstruction,
    control,
    from_listing,
    from_text,
)
from course_lib.machine.record_machine_code import cases
from course_lib.machine.timing_model import lost_in_queues
from tools.lab import registers

MATRIX = np.zeros((8, 8), np.float32)
FAST = ("naive", "tiled", "pipelined", "unrolled", "vectorized")
RUNGS = [
    r.name if r.name in FAST else at_night(r.name)
    for r in LADDER
    if r.name not in ("per_element", "single_block") and (available() or r.name in recorded.WITH_CODE)
]


def code_of(name, **params):
    r = rung(name)
    return machine_code(r.make(**{**r.params, **params}), (MATRIX, MATRIX, MATRIX))


@pytest.mark.parametrize("name", RUNGS)
def test_the_emulated_code_computes_the_product(name):
    """Every block of a ragged launch, by the recorded or the compiled code; an odd K leaves every loop a remainder."""
    r = rung(name)
    down, across = r.tile(**r.params) or (40, 48)
    M, N, K = down + 3, across + 5, 21
    rng = np.random.default_rng(0)
    A, B, C = rng.random((M, K), np.float32), rng.random((K, N), np.float32), np.full((M, N), np.nan, np.float32)
    grid, block = r.launch(M, N, K, **r.params)
    code = code_of(name)
    for y in range((*grid, 1)[1]):
        for x in range(grid[0]):
            run_block(code, (A, B, C), block, grid, (x, y, 0))
    np.testing.assert_allclose(C, A @ B, rtol=1e-5)


def test_lines_are_those_of_the_kernel_that_was_asked_for(tmp_path):
    """The same text elsewhere, in a file with comments before and in its loop, and in no file, as in a console."""

    def lines_of_multiply_adds(kernel):
        code = machine_code(kernel, (MATRIX, MATRIX, MATRIX))
        return {code.line(each) for each in code.instructions if each.operation == "FFMA"}

    naive = rung("naive").make()
    text, first = inspect.getsourcelines(naive.py_func)
    (at,) = (number for number, line in enumerate(text) if "acc +=" in line)
    head = "from numba import cuda, float32\n" + "# a comment\n" * 5
    moved = import_module(head + "".join([*text[:at], "            # the two loads\n", *text[at:]]), tmp_path).naive
    linecache.cache["<a cell>"] = len(text), None, text, "<a cell>"
    scope = {"cuda": cuda, "float32": float32}
    exec(compile("".join(text), "<a cell>", "exec"), scope)
    for _ in range(2):
        assert lines_of_multiply_adds(naive) == {first + at}
        assert lines_of_multiply_adds(scope["naive"]) == {at + 1}
        assert lines_of_multiply_adds(moved) == {at + 8}


@pytest.mark.parametrize(
    "result", [r for r in measurements.load("ladder").results if "registers" in r], ids=lambda r: r["rung"]
)
def test_registers_and_shared_memory_are_those_of_the_driver(result):
    """As the driver reported them on the GPU, which keeps 1 KiB of shared memory a block for itself elsewhere."""
    if result["rung"] == "cublas":
        pytest.skip("no kernel of the course")
    if not available() and result["rung"] not in recorded.WITH_CODE:
        pytest.skip("its machine code is not recorded")
    code = code_of(result["rung"], **result["params"])
    assert abs(code.registers - result["registers"]) <= 2
    assert code.shared_bytes == result["shared_bytes"]
    assert code.spilled_bytes == 0


def test_lines_are_the_kernels_own():
    """A multiply-add of tiled comes from the line of its sum, wherever the file is."""
    kernel = rung("tiled").make(tile_width=16)
    code = machine_code(kernel, (MATRIX, MATRIX, MATRIX))
    lines = open(kernel.py_func.__code__.co_filename, encoding="utf-8").read().splitlines()
    found = {lines[code.line(i) - 1].strip() for i in code.instructions if i.operation == "FFMA"}
    assert len(found) == 1 and "+=" in found.pop()
    first, last = max(code.loops, key=lambda loop: loop[1] - loop[0])
    assert sum(i.operation == "FFMA" for i in code.instructions[first : last + 1]) == 16


def test_text_and_back():
    """What is recorded is what was compiled."""
    code = code_of("tiled")
    assert from_text(code.text()) == code.instructions


@pytest.mark.parametrize(
    "text, says",
    [
        ("MOV R1, R2", "the machine code has no end here"),
        ("UIADD3.64 UR4, UR4, 0x2, URZ", "UIADD3.64"),
        ("F2F.F16.F32 R2, R4", "F2F.F16.F32"),
        ("BAR.RED.POPC.DEFER_BLOCKING 0x0, 0x40, P1", "BAR.RED.POPC"),
        ("LDC.64 R2, c[0x4][RZ]", "LDC.64 R2, c.0x4..RZ."),
        ("WARPSYNC R2", "WARPSYNC"),
    ],
)
def test_what_the_emulator_does_not_know_is_refused(text, says):
    """Forms of instructions that it knows otherwise, and code that does not end."""
    instruction = MachineInstruction(text, 1, False, -1, -1, (), (), -1)
    with pytest.raises(ValueError, match=says):
        run_block(MachineCode("own", (instruction,), 1, 0, 0, 0), (), (32,))


def test_what_was_recorded_is_the_code_of_the_kernels_as_they_are(monkeypatch):
    """Also of those on tensor cores, without a compiler; a changed kernel is to be recorded again."""
    monkeypatch.setattr(find, "available", lambda: False)
    monkeypatch.setattr(find, "_found", {})
    names = set()
    for name, _, kernel, arguments in cases():
        if name in recorded.WITH_CODE:
            assert machine_code(kernel, arguments).recorded, name
            names.add(name)
    assert {"naive", "best", "tensor_cores_bf16", "wgmma_bulk"} <= names


def test_a_kernel_of_ones_own_needs_the_compiler(monkeypatch, tmp_path):
    """The sentence says how to get it."""
    monkeypatch.setattr(find, "available", lambda: False)
    monkeypatch.setattr(find, "_found", {})

    @cuda.jit
    def own(A):
        A[0, 0] = 1

    with pytest.raises(NoMachineCode, match="uv sync --extra compiler"):
        machine_code(own, (MATRIX,))
    monkeypatch.setattr(lazy, "__file__", str(tmp_path / "course_lib" / "lazy.py"))  # as from a wheel
    with pytest.raises(NoMachineCode, match='`pip install "numba-cuda.*" "nvidia-cuda-nvdisasm.*"` installs'):
        machine_code(own, (MATRIX,))


def test_functions_of_one_name_are_told_apart():
    """A kernel's key depends on each function that it calls, also on lambdas and functions of the kernel's own name."""

    def made(first, second):
        def outer(function):
            @cuda.jit(device=True)
            def part(i):
                return function(i)

            return part

        one, two = outer(cuda.jit(device=True)(first)), outer(cuda.jit(device=True)(second))

        @cuda.jit
        def part(A):
            A[0, 0] = one(1) + two(2)

        return part

    same = lambda i: i  # noqa: E731
    other = lambda i: i + 1  # noqa: E731
    keys = [digest(made(*each), (), {}) for each in ((same, same), (same, other), (other, same), (same, same))]
    assert len(set(keys)) == 3 and keys[0] == keys[3]
    functions = functions_of(made(same, other).py_func)
    assert len(functions) == 5 and [*functions][-1] == "part"
    assert all(outline(function)[0] == 0 for function in functions.values())


def test_a_digest_takes_the_types_that_a_factory_is_given():
    """Of NumPy and of numba alike; a name that means its own type says no more than the text does."""

    def made(dtype):
        @cuda.jit
        def kernel(x):
            tile = cuda.shared.array(8, dtype)
            tile[0] = x[0]

        return digest(kernel, (), {})

    keys = [made(each) for each in (np.float32, float32, np.dtype("float32"), np.float64, np.int32)]
    assert keys[0] == keys[1] == keys[2] and len(set(keys)) == 3


def test_a_digest_takes_the_constants_of_modules_and_of_functions_inside():
    """Those of two modules under one name, too."""
    modules = [types.ModuleType(f"constants_{n}") for n in "ab"]

    def key(a, b, inside):
        modules[0].SIZE, modules[1].SIZE = a, b
        one, other = modules

        @cuda.jit
        def kernel(A):
            A[0, 0] = one.SIZE + 2 * other.SIZE + (lambda i: i + inside)(1)

        return digest(kernel, (), {})

    assert len({key(1, 2, 3), key(2, 1, 3), key(1, 2, 4), key(1, 2, 3)}) == 3


@pytest.mark.skipif(not available(), reason="the compiler is not installed")
def test_what_the_compiler_refuses_is_said_in_a_sentence():
    @cuda.jit
    def wrong(A):
        A[0, 0] = A.nothing

    with pytest.raises(ValueError, match="the compiler refuses wrong: .*nothing"):
        machine_code(wrong, (MATRIX,))


@pytest.mark.skipif(not available(), reason="the compiler is not installed")
@pytest.mark.parametrize(
    ("index", "steps", "loop"),
    [("signed", 16, (16, 354)), ("signed", 32, (8, 273)), ("uint64", 32, (32, 169)), ("uint64", None, (4, 100))],
)
def test_the_steps_that_numba_and_cuda_c_md_says_are_unrolled(index, steps, loop):
    """Multiply-adds and instructions of the loop: of 32 signed steps the compiler unrolls 8, as lesson 14 says."""
    code = machine_code(variants.naive_variant(index, steps).make(), f"void({', '.join(['float32[:, ::1]'] * 3)})")
    found = [code.instructions[first : last + 1] for first, last in code.loops]
    assert loop in [(sum(each.operation == "FFMA" for each in within), len(within)) for within in found]


@pytest.mark.skipif(not available(), reason="the compiler is not installed")
@pytest.mark.parametrize(
    ("name", "loop", "reads"), [("outer_product_constant", (32, 133), 32), ("outer_product_batched", (256, 741), 64)]
)
def test_the_steps_of_outer_products_that_numba_and_cuda_c_md_says_are_unrolled(name, loop, reads):
    """Two of 16 steps, though their number is known; all 16, and joined reads, with the loads in front (lesson 14)."""
    (rung,) = (each for each in variants.single_steps() if each.name == name)
    code = machine_code(rung.make(), f"void({', '.join(['float32[:, ::1]'] * 3)})")
    found = [code.instructions[first : last + 1] for first, last in code.loops]
    counts = [[sum(each.operation.startswith(kind) for each in within) for kind in ("FFMA", "LDS")] for within in found]
    assert (*loop, reads) in [
        (products, len(within), read) for within, (products, read) in zip(found, counts, strict=True)
    ]


@pytest.mark.skipif(not available(), reason="the compiler is not installed")
def test_a_while_loop_needs_a_third_of_the_instructions_of_range():
    """Lesson 14: four steps of `naive` with unsigned indices have 33 instructions; with `range` they have 100."""

    def counts_itself(A, B, C):
        row = uint64(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
        col = uint64(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
        M, K = A.shape
        N = B.shape[1]
        if row < M and col < N:
            acc = float32(0)
            k = uint64(0)
            while k < uint64(K):
                acc += A[row, k] * B[k, col]
                k += uint64(1)
            C[row, col] = acc

    code = machine_code(counts_itself, f"void({', '.join(['float32[:, ::1]'] * 3)})")
    found = [code.instructions[first : last + 1] for first, last in code.loops]
    assert (4, 33) in [(sum(each.operation == "FFMA" for each in within), len(within)) for within in found]


@pytest.mark.skipif(not available(), reason="the compiler is not installed")
def test_the_recording_is_what_is_compiled(monkeypatch):
    """By the same versions; another compiler makes other code."""
    code = code_of("tiled")
    monkeypatch.setattr(find, "available", lambda: False)
    monkeypatch.setattr(find, "_found", {})
    again = code_of("tiled")
    if again.versions == code.versions:
        assert again.instructions == code.instructions and again.registers == code.registers


def test_a_listing_gives_instructions_their_control_and_their_source():
    """The word's fields, the target of a branch, and the chain of functions; padding after the end is left out."""
    bits = (4 | 1 << 4 | 1 << 5 | 0 << 8 | 0b100100 << 11) << 41
    listing = f"""
    .L_x_0:
        //## File "k.py", line 12 inlined at "k.py", line 30
        /*0000*/   FFMA R1, R2.reuse, R3, R1 ;   /* 0x{0:016x} */
                                                  /* 0x{bits:016x} */
        //## File "k.py", line 31
        /*0010*/   @P0 BRA `(.L_x_0) ;   /* 0x{0:016x} */
                                          /* 0x{bits:016x} */
        /*0020*/   NOP ;   /* 0x{0:016x} */
                            /* 0x{bits:016x} */
    """
    first, second = from_listing(listing, {"k.py": {"helper": (10, 14), "kernel": (20, 40)}})
    places = (("helper", 2), ("kernel", 10))
    assert first == MachineInstruction("FFMA R1, R2.reuse, R3, R1", 4, False, 1, 0, (2, 5), places, -1)
    assert (second.predicate, second.operation, second.target, second.places) == ("@P0", "BRA", 0, (("kernel", 11),))
    assert control(1 << 41)["yields"]


@pytest.mark.skipif(not available(), reason="the compiler is not installed")
@pytest.mark.parametrize("name", ["vectorized", "warp_tiled"])
def test_with_exchanged_registers_only_neighbours_exchange_their_places(name, monkeypatch):
    """The disassembler reads other registers in the multiply-adds alone, and the emulator the same results by fours."""
    link, cubins, results = compiling._link, [], []

    def exchange(*given):
        cubin, log = link(*given)
        cubins.append(cubin)
        return registers.searched(cubin, 0, seed=0), log

    monkeypatch.setattr(registers, "EXCHANGES", 200)
    monkeypatch.setattr(compiling, "_link", exchange)
    given = rung(name).make(), (float32[:, ::1],) * 3
    exchanged = compiling.compiled(*given)
    monkeypatch.setattr(compiling, "_link", link)
    plain = compiling.compiled(*given)
    texts = [[each.text for each in code.instructions] for code in (plain, exchanged)]
    changed = [before for before, after in zip(*texts, strict=True) if before != after]
    assert changed and all("FFMA" in text for text in changed)
    for text, cubin in zip(texts, (cubins[0], registers.searched(cubins[0], 0, seed=0)), strict=True):
        read = registers.lines(cubin, registers.multiply_adds(cubin))
        assert [line for line in read if line != "NOP"] == [line for line in text if "FFMA" in line]
    assert lost_in_queues(texts[1]) < lost_in_queues(texts[0])
    A, B = np.random.default_rng(0).random((2, 128, 128), np.float32)
    for code in (plain, exchanged):
        results.append(np.full((128, 128), np.nan, np.float32))
        run_block(code, (A, B, results[-1]), (256,), (1, 1))
    assert not np.array_equal(*results)
    assert np.array_equal(*(np.sort(C.reshape(-1, 4)) for C in results))

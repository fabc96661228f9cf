"""A host program under ``profile``: all that it calls of numba.cuda has an answer, or a sentence that says why not."""

import inspect

import numpy as np
import pytest
from numba import cuda
from numba.cuda.cudadrv import devicearray, devices, driver, enums

from course_lib.machine import measurements
from course_lib.machine.programs import host_api
from course_lib.machine.programs.stand_ins import signatures_wait
from course_lib.simulator.language.translation.calls import CUDA

GPU = measurements.load("latencies", measurements.DEFAULT_GPU).provenance
CONTEXT = host_api.DeviceContext(GPU, lambda said: None)
#: numba-cuda's classes that a host program gets, and a stand-in of each.
OBJECTS = {
    driver.Stream: host_api.Stream(),
    driver.Event: CONTEXT.create_event(),
    driver.Context: CONTEXT,
    driver.Device: CONTEXT.device,
    devices._DeviceList: host_api.Devices((CONTEXT.device,)),
    devicearray.DeviceNDArray: host_api.ArrayFactory(lambda said: None).to_device(np.zeros((3, 2))),
}
#: Names in numba.cuda that need no GPU, and stay as they are.
WITHOUT_GPU = """
compile compile_all compile_ptx cuda_error declare_device is_cuda_array jit literal_unroll prepare_shape_strides_dtype
set_memory_manager test Reduce reduce
""".split()


def functions_of_the_host():
    """Return numba.cuda's functions that a host program may call: all but those of kernels."""
    return [
        name
        for name, thing in vars(cuda).items()
        if inspect.isfunction(thing)
        and thing.__module__.startswith("numba")
        and not name.startswith("_")
        and name not in CUDA
        and not thing.__module__.endswith(("runtests", "cudadrv.error", "testing"))
    ]


def test_every_name_of_numba_cuda_is_in_the_table():
    """A new version of numba-cuda shows its new functions here; each takes the arguments that numba's takes."""
    known = host_api.stand_ins(GPU, lambda said: None)
    names = functions_of_the_host()
    absent = [n for n in names if n not in known and n not in WITHOUT_GPU and not n.endswith("vectorize")]
    assert len(names) > 30 and absent == []

    for name in {*names} & known.keys():
        for parameter in inspect.signature(getattr(cuda, name)).parameters.values():
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
                taken = inspect.signature(known[name]).parameters.values()
                assert any(p.name == parameter.name or p.kind is p.VAR_KEYWORD for p in taken), (name, parameter.name)


@pytest.mark.parametrize("original", OBJECTS, ids=lambda kind: kind.__name__)
def test_every_method_of_numba_cuda_is_in_the_table(original):
    """Each does something, or raises the sentence of the table."""
    made = OBJECTS[original]
    kind = type(made).__name__
    names = [name for name in dir(original) if not name.startswith("_")]
    for name in names:
        if f"{kind}.{name}" in host_api.NEEDS:
            with pytest.raises(host_api.NeedsGPU, match=f"{kind}.{name} needs a GPU: "):
                getattr(made, name)()
        else:
            assert hasattr(made, name), f"{kind}.{name}"
    assert {n.partition(".")[2] for n in host_api.NEEDS if n.startswith(f"{kind}.")} <= {*names}


def test_attributes_of_the_device_are_those_of_cuda():
    named = [name for name in vars(CONTEXT.device) if name.isupper()]
    assert named and all(hasattr(enums, f"CU_DEVICE_ATTRIBUTE_{name}") for name in named)


CALLS = {
    "with cuda.gpus[0]:\n        double[1, 32](d)": "",
    "e, f = cuda.event(), cuda.event()\n    e.record(); double[1, 32](d); f.record(); f.synchronize()\n"
    "    assert f'{e.elapsed_time(f):.3f} {cuda.event_elapsed_time(e, f)}' == 'nan nan'": "No time is measured",
    "h = np.ones(8)\n    with cuda.mapped(h) as m:\n        double[1, 32](m)\n    assert h.tolist() == [2] * 8": "",
    "free, total = cuda.current_context().get_memory_info()\n    assert 0 < free <= total\n"
    "    double[1, 32](d)": "this machine's",
    "assert d.alloc_size == 800\n    double[1, 32](d)": "",
    "assert d.is_c_contiguous() and cuda.is_cuda_array(d)\n    double[1, 32](d)": "",
    "parts = list(d.split(60))\n    assert [p.size for p in parts] == [60, 40]\n    double[1, 32](parts[1])\n"
    "    assert d.copy_to_host().tolist() == [1] * 60 + [2] * 32 + [1] * 8": "",
    "f = numba.vectorize(['float64(float64)'], target='cuda')(lambda v: v + 1)\n    e = f(d)\n    double[1, 32](e)\n"
    "    assert e.copy_to_host()[:33].tolist() == [4] * 32 + [2]": "runs on the CPU and is not profiled",
    "h = np.ones(100)\n    e = cuda.to_device(h)\n    h[0] = 9\n    e.copy_to_device(d)\n    double[1, 32](e)\n"
    "    assert type(e.copy_to_host()) is np.ndarray and h[0] == 9 and d[0] == 1\n"
    "    assert e.copy_to_host(h) is h and h[:33].tolist() == [2] * 32 + [1]": "",
    "h = np.ones(8)\n    double[1, 32](cuda.InOut(h))\n    assert h.tolist() == [2] * 8": "",
    "h = np.ones(8)\n    double[1, 32](cuda.In(h))\n    assert h.tolist() == [1] * 8": "",
    "cuda.stream().add_callback(lambda stream, status, arg: double[1, 32, stream](arg), d)": "",
    "async def wait():\n        s = cuda.stream()\n        double[1, 32, s](d)\n"
    "        assert await s.async_done() is s\n    asyncio.run(wait())": "",
    "double[1, 32](d)\n    assert cuda.as_cuda_array(d)[3] == 2 and cuda.device_array_like(d).size == 100\n"
    "    double[1, 1](cuda.as_cuda_array(d))\n    assert d[0] == 4": "",
    "b = cuda.device_array((4, 6), np.float32, order='F')\n    assert b.is_f_contiguous()\n    double[1, 32](d)": "",
    "assert cuda.runtime.get_version() >= (11, 0)\n    double[1, 32](d)": "",
    "with cuda.pinned(np.ones(3)), cuda.defer_cleanup(), cuda.profiling():\n        double[1, 32](d)": "",
    "double.specialize(d)[1, 32](d)": "",
    "double.compile('void(float64[:])')\n    double[1, 32](d)": "",
    "p = cuda.pinned_array(4)\n    p[:] = 1\n    double[1, 32](p)\n"
    "    assert type(p.sum()) is np.float64 and f'{p.max():.1f}' == '2.0' and type(p[1]) is np.float64\n"
    "    assert (p + 1).tolist() == [3] * 4 and p.sum(keepdims=True).shape == (1,)": "",
}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.split("\n")[0])
def test_a_call_of_a_host_program(hosted, call):
    """`main()` goes on after it, with what a GPU would give; what is no GPU's answer is said."""
    launches, said = hosted(f"def main():\n    d = cuda.to_device(np.ones(100))\n    {call}\n\nmain()\n")

    assert launches and not any(isinstance(each, str) for each in launches)
    assert CALLS[call] in said


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("d.get_ipc_handle()", "DeviceArray.get_ipc_handle needs a GPU: it shares memory with another process"),
        ("cuda.get_current_device().PCI_BUS_ID", "Device.PCI_BUS_ID needs a GPU: leave it out, or give the value"),
        ("cuda.compile_ptx_for_current_device(double, ())", "needs a GPU: it compiles for the GPU that is there"),
        ("d.nothing_of_this_name", "DeviceArray.nothing_of_this_name needs a GPU"),
    ],
)
def test_what_has_no_answer(hosted, call, words):
    with pytest.raises(host_api.NeedsGPU, match=words):
        hosted(f"d = cuda.to_device(np.ones(9))\n{call}\n")


@pytest.mark.parametrize("call", ["d.sum()", "d.astype(np.int8)"])
def test_what_an_array_of_numpy_has_alone(hosted, call):
    """numba's has it neither, on a GPU."""
    with pytest.raises(AttributeError, match="copy_to_host") as raised:
        hosted(f"d = cuda.to_device(np.ones(9))\n{call}\n")
    assert not isinstance(raised.value, host_api.NeedsGPU)


def test_what_is_polled_is_done(hosted):
    """A host that polls an event, as CUDA's sample asyncAPI does, and a callback that ends a loop."""
    body = "stop, done = cuda.event(), []\nd = cuda.to_device(np.ones(9))\ndouble[1, 32](d)\nstop.record()\n"
    body += "while not stop.query():\n    pass\ncuda.stream().add_callback(lambda *arguments: done.append(1))\n"
    body += "while not done:\n    pass\ndouble[2, 32](d)\n"

    assert len(hosted(body)[0]) == 2


def test_an_option_that_asks_for_nvidias_linker_reaches_no_package():
    """numba-cuda looks for the linker at once; the other options are the kernel's."""

    def jit(function=None, **options):
        return options if function is None else (function, options)

    assert signatures_wait(jit)(jit, lto=True, device=True) == (jit, {"device": True})
    decorated = signatures_wait(lambda **options: lambda function: options_of.update(options) or function)
    options_of = {}
    decorated("void(float32[:])", lto=True, fastmath=True)(jit)
    assert options_of == {"fastmath": True}

"""Products that four warps start together, and descriptors of their tiles: see :mod:`..warpgroup`."""

from importlib import metadata

from llvmlite import ir
from numba import cuda, types
from numba.core import errors
from numba.cuda.cudadrv.error import CudaSupportError

from .instructions import BYTE, FLOAT, INT32, INT64, SHARED_ADDRESS_SPACE, plain

#: The only compute capability that has them, and the first numba-cuda that compiles for it.
HOPPER, NUMBA_CUDA = (9, 0), (0, 24)


def require_hopper() -> None:
    """Raise a LoweringError where wgmma cannot be compiled; without a GPU there is nothing to ask."""
    try:
        capability = tuple(cuda.get_current_device().compute_capability)
    except CudaSupportError:
        return
    if capability[:2] != HOPPER:
        raise errors.LoweringError(
            f"wgmma needs a GPU of compute capability {HOPPER[0]}.{HOPPER[1]} (Hopper: H100, H200), and this one has "
            f"{capability[0]}.{capability[1]}; take a kernel that uses mma.sync, such as `tensor_cores_bf16`"
        )
    try:
        version = metadata.version("numba-cuda")
    except metadata.PackageNotFoundError:
        version = "0"
    if tuple(map(int, version.split(".")[:2])) < NUMBA_CUDA:
        raise errors.LoweringError(
            f"wgmma needs numba-cuda {NUMBA_CUDA[0]}.{NUMBA_CUDA[1]} or later, which compiles for sm_90a, and "
            f"{'none is installed' if version == '0' else f'this is {version}'}; install numba-cuda as README says"
        )


def line(text):
    """Return the signature and the generator of a line of Hopper's assembly."""
    return plain(text, require=require_hopper)


def descriptor(tile, place, leading, stride, swizzle, swizzles):
    """Return the signature and the generator of a descriptor; None for other types. swizzles: the code of each."""
    if not isinstance(swizzle, types.IntegerLiteral) or swizzle.literal_value not in swizzles:
        raise errors.TypingError(f"the swizzle of a descriptor is one of the constants {', '.join(map(str, swizzles))}")
    if not isinstance(tile, types.Array) or (tile.ndim, tile.layout) != (1, "C"):
        return None
    if not all(isinstance(number, types.Integer) for number in (place, leading, stride)):
        return None
    code = swizzles[swizzle.literal_value]

    def generate(context, builder, signature, args):
        kinds = signature.args
        array = context.make_array(kinds[0])(context, builder, args[0])
        place, leading, stride = (
            context.cast(builder, value, kind, types.int64) for value, kind in zip(args[1:4], kinds[1:4], strict=True)
        )
        first = builder.bitcast(array.data, BYTE.as_pointer(array.data.type.addrspace))
        offset = builder.mul(place, INT64(kinds[0].dtype.bitwidth // 8))
        pointer = builder.addrspacecast(builder.gep(first, [offset]), BYTE.as_pointer(SHARED_ADDRESS_SPACE))
        address = builder.zext(builder.ptrtoint(pointer, INT32), INT64)
        result = builder.lshr(builder.and_(address, INT64(0x3FFFF)), INT64(4))
        for number, shift in ((leading, 16), (stride, 32)):
            field = builder.lshr(builder.and_(number, INT64(0x3FFFF)), INT64(4))
            result = builder.or_(result, builder.shl(field, INT64(shift)))
        return builder.or_(result, INT64(code << 62))

    return types.uint64(tile, place, leading, stride, swizzle), generate


def _is_acc(kind):
    return isinstance(kind, types.Array) and (kind.dtype, kind.ndim, kind.layout) == (types.float32, 1, "C")


def _with_results(context, builder, acc, value, count, text, constraints=(), operands=()):
    """Write the instruction `text`, whose first operands, $0 and so on, are `count` elements of acc, in registers."""
    data = context.make_array(acc)(context, builder, value).data
    places = [builder.gep(data, [INT32(i)]) for i in range(count)]
    values = [builder.load(place) for place in places]
    result = ir.LiteralStructType([FLOAT] * count)
    kind = ir.FunctionType(result, [v.type for v in (*operands, *values)])
    all_constraints = ",".join(["=f"] * count + [*constraints] + [str(i) for i in range(count)] + ["~{memory}"])
    out = builder.asm(kind, text, all_constraints, [*operands, *values], side_effect=True)
    for i, place in enumerate(places):
        builder.store(builder.extract_value(out, i), place)


def product(form, columns, registers, acc, a, b, add):
    """Return the signature and the generator of a product of 64 rows; None for other types.

    form: the format of A and B, with its `name`, `dtype` and `depth`. registers: whether A is in registers.
    """
    count = columns // 2
    fragment = types.UniTuple(types.float32, 4) if registers else types.uint64
    if not _is_acc(acc) or a != fragment or b != types.uint64 or not isinstance(add, (types.Integer, types.Boolean)):
        return None

    def generate(context, builder, signature, args):
        require_hopper()
        keep = context.cast(builder, args[3], signature.args[3], types.int32)
        first = [args[1]]
        if registers:
            first = [builder.bitcast(builder.extract_value(args[1], i), INT32) for i in range(4)]
        names = [f"${count + i}" for i in range(len(first))]
        of = f"{{{', '.join(names)}}}" if registers else names[0]
        # The signs of A and B, and, for 16 bits, whether A or B is stored the other way: B is.
        ways = "" if form.dtype == "float32" else ", 1" if registers else ", 0, 1"
        d = ", ".join(f"${i}" for i in range(count))
        text = (
            f"{{ .reg .pred p; setp.ne.b32 p, ${count + len(first) + 1}, 0; "
            f"wgmma.mma_async.sync.aligned.m64n{columns}k{form.depth}.f32.{form.name}.{form.name} "
            f"{{{d}}}, {of}, ${count + len(first)}, p, 1, 1{ways}; }}"
        )
        constraints = ["r" if registers else "l"] * len(first) + ["l", "r"]
        _with_results(context, builder, acc, args[0], count, text, constraints, [*first, args[2], keep])
        return context.get_dummy_value()

    return types.none(acc, a, b, add), generate


def wait(columns, acc, pending):
    """Return the signature and the generator of a wait for all but the last `pending` groups; None for other types."""
    if not _is_acc(acc) or not isinstance(pending, types.IntegerLiteral) or pending.literal_value < 0:
        return None

    def generate(context, builder, signature, args):
        # acc is an operand, so that the compiler leaves what is done with it after the wait there.
        text = f"wgmma.wait_group.sync.aligned {pending.literal_value};"
        _with_results(context, builder, acc, args[0], columns // 2, text)
        return context.get_dummy_value()

    return types.none(acc, pending), generate

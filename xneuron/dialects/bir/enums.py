"""The closed word lists of BIR, spelled as on the wire, and the attributes that hold one word.

Members, order and ordinals are facts of the reference (`bir.md`, sections a, b, d and i).
"""

from __future__ import annotations

from enum import IntEnum

from xdsl.dialects.utils.enum_attribute import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum


class Engine(StrEnum):
    """Where an instruction runs; `ALL` means replicated on every engine."""

    Unassigned = "Unassigned"
    Pool = "Pool"
    Activation = "Activation"
    PE = "PE"
    DMA = "DMA"
    DVE = "DVE"
    SP = "SP"
    ALL = "ALL"


DATA_PATH_ENGINES = (Engine.Pool, Engine.Activation, Engine.PE, Engine.DVE, Engine.SP)
"""The engines that own a register file."""


class AluOpType(StrEnum):
    """ALU operations; the ordinal is the position. Unary ones ignore their second operand."""

    bypass = "bypass"
    bitwise_not = "bitwise_not"
    arith_shift_left = "arith_shift_left"
    arith_shift_right = "arith_shift_right"
    add = "add"
    subtract = "subtract"
    mult = "mult"
    divide = "divide"
    max = "max"
    min = "min"
    bitwise_and = "bitwise_and"
    bitwise_or = "bitwise_or"
    bitwise_xor = "bitwise_xor"
    logical_and = "logical_and"
    logical_or = "logical_or"
    logical_xor = "logical_xor"
    logical_shift_left = "logical_shift_left"
    logical_shift_right = "logical_shift_right"
    is_equal = "is_equal"
    not_equal = "not_equal"
    is_gt = "is_gt"
    is_ge = "is_ge"
    is_lt = "is_lt"
    is_le = "is_le"
    average = "average"
    elemwise_mul = "elemwise_mul"
    pow = "pow"
    mod = "mod"
    rsqrt = "rsqrt"
    abs = "abs"
    abs_max = "abs_max"
    abs_min = "abs_min"
    mod_int = "mod_int"


UNARY_ALU_OPS = frozenset({AluOpType.bypass, AluOpType.bitwise_not, AluOpType.rsqrt, AluOpType.abs})
"""Operations that ignore their second operand (reference: ordinals 0, 1, 28, 29)."""

REGISTER_ALU_OPS = frozenset(AluOpType) - {
    AluOpType.average,
    AluOpType.elemwise_mul,
    AluOpType.abs_max,
    AluOpType.abs_min,
    AluOpType.mod_int,
}
"""What the register ALU encodes: ordinals 0..29 without `average` and `elemwise_mul`."""


class BranchCompareOp(StrEnum):
    """Comparisons of CompareAndBranch; `IMM` compares with an immediate, `REG` with a register."""

    IS_LTIMM = "IS_LTIMM"
    IS_LEIMM = "IS_LEIMM"
    IS_EQIMM = "IS_EQIMM"
    IS_NEIMM = "IS_NEIMM"
    IS_GEIMM = "IS_GEIMM"
    IS_GTIMM = "IS_GTIMM"
    IS_LTREG = "IS_LTREG"
    IS_LEREG = "IS_LEREG"
    IS_EQREG = "IS_EQREG"
    IS_NEREG = "IS_NEREG"
    IS_GEREG = "IS_GEREG"
    IS_GTREG = "IS_GTREG"
    Unsupported = "Unsupported"

    @property
    def relation(self) -> str:
        """`LT`, `LE`, `EQ`, `NE`, `GE` or `GT`."""
        return self.value[3:5]

    @property
    def with_immediate(self) -> bool:
        return self.value.endswith("IMM")


class MemorySpace(StrEnum):
    """Memory types of a location, spelled as on the wire."""

    Unallocated = "Unallocated"
    Input = "Input"
    Output = "Output"
    DRAM = "DRAM"
    SB = "SB"
    PSUM = "PSUM"
    RNGSTATE = "RNGSTATE"
    REG = "REG"


ON_CHIP = (MemorySpace.SB, MemorySpace.PSUM)
"""The spaces whose first dimension is the partition."""


class TensorKind(StrEnum):
    """What a memory location set is to the program."""

    ExternalInput = "ExternalInput"
    ExternalInputParameter = "ExternalInputParameter"
    Input = "Input"
    ExternalOutput = "ExternalOutput"
    ExternalOutputParameter = "ExternalOutputParameter"
    Output = "Output"
    Const = "Const"
    Internal = "Internal"
    Pointer = "Pointer"
    InternalInterface = "InternalInterface"


class TensorClass(StrEnum):
    """Front-end origin of a memory location set; kept, without meaning here."""

    Tensor = "Tensor"
    LoopTensor = "LoopTensor"
    SingleValueTensor = "SingleValueTensor"
    NeuronTensor = "NeuronTensor"
    NeuronWeightTensor = "NeuronWeightTensor"
    IdentityWeightTensor = "IdentityWeightTensor"
    NeuronBlockTensor = "NeuronBlockTensor"
    DRAM2DBlockTensor = "DRAM2DBlockTensor"
    Neuron3DBlockTensor = "Neuron3DBlockTensor"
    DRAM3DBlockTensor = "DRAM3DBlockTensor"
    NeuronLocalTensor = "NeuronLocalTensor"
    NeuronSBTensor = "NeuronSBTensor"
    NeuronPSUMTensor = "NeuronPSUMTensor"


class AddrSpace(StrEnum):
    """Who can see a location."""

    Local = "Local"
    Shared = "Shared"
    Debug = "Debug"


class DType(StrEnum):
    """Element types, named as on the wire; `float32r` is float32 rounded by the PE array."""

    uint8 = "uint8"
    int8 = "int8"
    fp4x4 = "fp4x4"
    float8e3 = "float8e3"
    float8e4 = "float8e4"
    e4m3fn = "e4m3fn"
    e8m0 = "e8m0"
    float8e5 = "float8e5"
    uint16 = "uint16"
    int16 = "int16"
    bfloat16 = "bfloat16"
    float16 = "float16"
    uint32 = "uint32"
    int32 = "int32"
    float32 = "float32"
    float32r = "float32r"
    uint64 = "uint64"
    int64 = "int64"

    @property
    def nbytes(self) -> int:
        """Bytes of one element."""
        return _BYTES.get(self, 1)

    @property
    def is_integer(self) -> bool:
        return "int" in self.value


_BYTES = {
    **dict.fromkeys((DType.fp4x4, DType.uint16, DType.int16, DType.bfloat16, DType.float16), 2),
    **dict.fromkeys((DType.uint32, DType.int32, DType.float32, DType.float32r), 4),
    **dict.fromkeys((DType.uint64, DType.int64), 8),
}


class ActivationFunctionType(StrEnum):
    """Functions of the Activation engine that this dialect gives a meaning to."""

    Identity = "Identity"
    Copy = "Copy"
    Relu = "Relu"
    Exp = "Exp"
    Tanh = "Tanh"
    Sigmoid = "Sigmoid"
    Gelu = "Gelu"
    Sqrt = "Sqrt"
    Rsqrt = "Rsqrt"
    Reciprocal = "Reciprocal"
    Square = "Square"
    Abs = "Abs"
    Sign = "Sign"
    Silu = "Silu"
    Softplus = "Softplus"
    Ln = "Ln"
    Erf = "Erf"
    Sin = "Sin"
    Arctan = "Arctan"


class AccumulateFlag(StrEnum):
    """The `acc` key of TensorTensor and Activation."""

    Idle = "Idle"
    Zero = "Zero"
    Accumulate = "Accumulate"
    ZeroAccumulate = "ZeroAccumulate"
    AddAccumulate = "AddAccumulate"
    LoadAccumulate = "LoadAccumulate"


class ReduceAxes(StrEnum):
    """Which free dimensions a TensorReduce collapses, innermost is X; C is the partition."""

    X = "X"
    XY = "XY"
    XYZ = "XYZ"
    XYZW = "XYZW"
    XYZWC = "XYZWC"
    C = "C"


class MemsetMode(StrEnum):
    Const = "Const"
    Random = "Random"


class DMACopyMode(StrEnum):
    Copy = "Copy"
    Transpose = "Transpose"
    CCE = "CCE"
    Replicate = "Replicate"


class DGEType(StrEnum):
    """Who makes the descriptors of a DMA."""

    Unassigned = "Unassigned"
    Off = "None"
    SWDGE = "SWDGE"
    HWDGE = "HWDGE"


class Opcode(IntEnum):
    """Opcodes of the instructions in this dialect; the member name is the wire name."""

    Activation = 4
    Matmult = 8
    Memset = 10
    NoOp = 12
    AllEngineBarrier = 15
    Load = 19
    Reciprocal = 21
    Save = 22
    TensorCopy = 23
    TensorReduce = 27
    TensorScalar = 28
    TensorScalarPtr = 29
    TensorTensor = 31
    DMACopy = 32
    Select = 51
    Iota = 61
    RegisterAlu = 73
    RegisterMove = 74
    TensorLoad = 75
    TensorSave = 76
    CompareAndBranch = 78
    UnconditionalBranch = 79
    Return = 81
    Exit = 82
    Break = 83
    Loop = 105
    DynamicForLoop = 106
    DoWhile = 108


@irdl_attr_definition
class EngineAttr(EnumAttribute[Engine], SpacedOpaqueSyntaxAttribute):
    name = "bir.engine"


@irdl_attr_definition
class AluOpAttr(EnumAttribute[AluOpType], SpacedOpaqueSyntaxAttribute):
    name = "bir.alu_op"


@irdl_attr_definition
class BranchCompareOpAttr(EnumAttribute[BranchCompareOp], SpacedOpaqueSyntaxAttribute):
    name = "bir.branch_compare"


@irdl_attr_definition
class TensorKindAttr(EnumAttribute[TensorKind], SpacedOpaqueSyntaxAttribute):
    name = "bir.tensor_kind"


@irdl_attr_definition
class TensorClassAttr(EnumAttribute[TensorClass], SpacedOpaqueSyntaxAttribute):
    name = "bir.tensor_class"


@irdl_attr_definition
class AddrSpaceAttr(EnumAttribute[AddrSpace], SpacedOpaqueSyntaxAttribute):
    name = "bir.addr_space"


@irdl_attr_definition
class ActivationFunctionAttr(EnumAttribute[ActivationFunctionType], SpacedOpaqueSyntaxAttribute):
    name = "bir.activation_function"


@irdl_attr_definition
class AccumulateFlagAttr(EnumAttribute[AccumulateFlag], SpacedOpaqueSyntaxAttribute):
    name = "bir.accumulate"


@irdl_attr_definition
class ReduceAxesAttr(EnumAttribute[ReduceAxes], SpacedOpaqueSyntaxAttribute):
    name = "bir.reduce_axes"


@irdl_attr_definition
class MemsetModeAttr(EnumAttribute[MemsetMode], SpacedOpaqueSyntaxAttribute):
    name = "bir.memset_mode"


@irdl_attr_definition
class DMACopyModeAttr(EnumAttribute[DMACopyMode], SpacedOpaqueSyntaxAttribute):
    name = "bir.dma_copy_mode"


@irdl_attr_definition
class DGETypeAttr(EnumAttribute[DGEType], SpacedOpaqueSyntaxAttribute):
    name = "bir.dge_type"


ENUM_ATTRIBUTES: tuple[type[Attribute], ...] = (
    EngineAttr,
    AluOpAttr,
    BranchCompareOpAttr,
    TensorKindAttr,
    TensorClassAttr,
    AddrSpaceAttr,
    ActivationFunctionAttr,
    AccumulateFlagAttr,
    ReduceAxesAttr,
    MemsetModeAttr,
    DMACopyModeAttr,
    DGETypeAttr,
)

"""Every rule of the verifier has a program that breaks it and no other."""

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.test import Test
from xdsl.parser import Parser

from xneuron.dialects.bir import BIR
from xneuron.dialects.bir.verifier.diagnostics import CODES, BirError

STORAGE = """
%n = bir.register "n"
%m = bir.register "m"
%w = bir.register "w" <num_physical_regs = 2>
%d = bir.memory_location "d" : DRAM float32 [128, 512]
%c = bir.memory_location "c" : DRAM int32 [1, 1]
%x = bir.memory_location "x" : SB float32 [128, 512]
%y = bir.memory_location "y" : SB float32 [128, 512]
%s = bir.memory_location "s" : SB float32 [128, 1]
%p = bir.memory_location "p" : PSUM float32 [128, 512]
"""


def parse(body: str, storage: str = STORAGE) -> ModuleOp:
    ctx = Context()
    for dialect in (Builtin, Test, BIR):
        ctx.load_dialect(dialect)
    return Parser(ctx, f"bir.func @main {{ {storage} {body} bir.return }}").parse_module()


def loop(lb: str = "0", ub: str = "%n", stride: str = "1", keys: str = "") -> str:
    return f'bir.dynamic_for_loop for %i "i" in range({lb}, {ub}, {stride}) {keys} {{ }}'


DYNAMIC_LOOP = [
    ("182", loop(lb="floordiv(%n, 2)"), "lower bound to be an affine expression but got FloorDivKind"),
    ("182", loop(lb="index(%n)"), "but got IntRuntimeValueKind"),
    ("183", loop(lb="%n"), "expected a constant lower bound but got 1 term"),
    ("187", loop(stride="mult(1, 2)"), "stride to be an affine expression but got MultKind"),
    ("188", loop(stride="%n + %m"), "expected a constant stride but got 2 terms"),
    ("184", loop(ub="sum(%n, 1)"), "upper bound to be an affine expression but got SumKind"),
    ("184", loop(ub="index(%n)"), "but got IntRuntimeValueKind"),
    ("185", loop(ub="10"), "exactly one term in the upper bound but got 0 terms"),
    ("185", loop(ub="%n + %m"), "but got 2 terms"),
    ("186", loop(ub="4 * shard(8)"), "expected a register in the upper bound but got ShardIDKind"),
    ("195", loop(ub="4 * reg(null) + 1"), "expected the register of the upper bound to exist but got none"),
    ("stride", loop(stride="0"), "expected a positive stride for axis 'i' but got 0"),
    ("stride", loop(stride="-1"), "but got -1"),
    ("bound-range", loop(lb="2147483648"), "lower bound of axis 'i' to fit in 32 bits but got 2147483648"),
    ("bound-range", loop(ub="%n - 2147483649"), "constant of axis 'i' to fit in 32 bits"),
    ("bound-range", loop(ub="4294967296 * %n"), "coefficient of axis 'i'"),
    ("max-tripcount", loop(keys="<max_tripcount = -1>"), "max_tripcount of at least 0 but got -1"),
    ("register-width", loop(ub="%w"), "expected a 32-bit register in an expression but 'w' has 64 bits"),
    (
        "register",
        '%q = "test.op"() : () -> !bir.register ' + loop(ub="%q"),
        "expected a register of this function but got a value of type !bir.register",
    ),
]

OTHER_FLOW = [
    ("stride", 'bir.loop for %i "i" in range(0, 8, -2) { }', "but got -2"),
    ("bound-range", 'bir.loop for %i "i" in range(0, 4294967296, 1) { }', "upper bound of axis 'i'"),
    (
        "axis-name",
        'bir.loop for %i "i" in range(0, 8, 1) { bir.loop for %j "i" in range(0, 8, 1) { } }',
        "axis 'i' hides an axis of the same name around it",
    ),
    ("119", "bir.do_while { } while (2 * %n)", "expected a register as the condition but got AffExprKind"),
    ("register", "bir.do_while { } while (index(reg(null)))", "expected a register but got none"),
    (
        "block-argument",
        "bir.do_while { bir.unconditional_branch ^b ^b(%q : index): bir.continue } while %n",
        "expected a block without arguments but got 1",
    ),
    (
        "block-argument",
        '"bir.loop"() <{axis_name = "i", lb = #bir<long 0>, ub = #bir<long 1>, stride = #bir<long 1>,'
        " engine = #bir<engine ALL>, is_parallel = #bir<flag false>}> ({ ^b: }) : () -> ()",
        "expected bir.loop to have one body argument of type index",
    ),
]

ACCESSES = [
    ("operand", "bir.tensor_copy %y = %x, %x", "expected 1 inputs of bir.tensor_copy but got 2"),
    ("operand", "bir.tensor_scalar_ptr %y = %x <op0 = add>", "expected 2 to 3 inputs"),
    (
        "operand",
        "bir.tensor_copy %y = 1.0",
        "expected memory in SB or PSUM as input 0 of bir.tensor_copy but got the immediate 1.0",
    ),
    (
        "operand",
        "bir.tensor_load %x[0][[512, 1], [1, 1]] = %c",
        "expected a register as output 0 of bir.tensor_load but got memory",
    ),
    (
        "dtype",
        "bir.tensor_copy %y = %x : int32",
        "the dtype between AP and MemObj must be the same, but got int32 and float32",
    ),
    ("310", "bir.tensor_copy %y = %d", "expected memory in SB or PSUM as input 0 of bir.tensor_copy but got DRAM"),
    ("310", "bir.load %x = %y", "expected memory in DRAM as input 0 of bir.load but got SB"),
    ("310", "bir.tensor_copy %p = %x on Pool", "engine Pool cannot access PSUM"),
    ("310", "bir.tensor_save %p[0][[512, 1], [1, 1]] = %n : float32", "bir.tensor_save cannot write to PSUM"),
    (
        "310",
        "bir.matmult %y[0][[512, 128], [1, 128]] = %x, %x[0][[512, 128], [1, 128]]",
        "expected bir.matmult to read SB and write PSUM but got SB",
    ),
    (
        "400",
        "bir.tensor_tensor %y = add(%x, %x) on PE",
        "engine PE cannot run bir.tensor_tensor; valid engines are DVE, Pool",
    ),
    ("400", '%q = bir.register "q" <engine = DMA>', "engine DMA has no registers"),
    ("pattern", "bir.memset %x[0][]", "expected one to 4 pairs of positive extent but got []"),
    ("pattern", "bir.memset %x[0][[512, 2], [1, 1], [1, 1], [1, 1], [1, 1]]", "expected one to 4 pairs"),
    ("pattern", "bir.memset %x[0][[512, 0], [1, 4]]", "pairs of positive extent but got [[512, 0], [1, 4]]"),
    ("pattern", "bir.iota %x <pattern = [1, 512, 3]>", "expected pairs of step and num but got 3 numbers"),
    (
        "partitions",
        "bir.memset %x[0][[4, 128], [1, 4]]",
        "expected the first step to be 512 elements, one partition, but got 4",
    ),
    ("partitions", "bir.memset %x[0][[512, 129], [1, 4]]", "Pattern accesses > 128 partitions: 129"),
    (
        "partitions",
        "bir.memset %x[512][[512, 4], [1, 4]]",
        "Access pattern did not start at partition 0, 32, 64 or 96. Starts at partition 1",
    ),
    (
        "partitions",
        "bir.memset %x[16384][[512, 64], [1, 4]]",
        "crosses a partition boundary: 64 partitions from 32, at most 32",
    ),
    ("out-of-bounds", "bir.memset %x[32768][[512, 65], [1, 4]]", "the access covers partitions 64 to 128 of 128"),
    ("out-of-bounds", "bir.memset %x[510][[512, 128], [1, 4]]", "the access covers elements 510 to 513 of 512"),
    ("out-of-bounds", "bir.memset %x[0][[512, 128], [-1, 4]]", "the access covers elements -3 to 0 of 512"),
    ("out-of-bounds", "bir.load %x = %d[1][[512, 128], [1, 512]]", "the access covers elements 1 to 65536 of 65536"),
    (
        "element-count",
        "bir.tensor_tensor %y = add(%x, %s)",
        "expected 65536 elements in input 1 of bir.tensor_tensor but got 128",
    ),
    ("element-count", "bir.tensor_scalar_ptr %y = %x, %x <op0 = add>", "expected 128 elements in input 1"),
    (
        "element-count",
        "bir.tensor_reduce %y = add(%x)",
        "expected 128 elements in the output of bir.tensor_reduce but got 65536",
    ),
    (
        "element-count",
        "bir.iota %x <pattern = [1, 128]>",
        "expected 512 elements in one partition of bir.iota but got 128",
    ),
    (
        "element-count",
        "bir.matmult %p = %x, %y",
        "expected 512 elements along the partitions of the output but got 128",
    ),
    ("element-count", "bir.tensor_load %n : float32 = %d", "expected 1 elements for bir.tensor_load but got 65536"),
    ("immediate", "bir.register_move %n = 4294967296", "expected a value of int32 but got 4294967296"),
    ("immediate", "bir.register_move %n = 1.5 : int32", "expected a value of int32 but got 1.5"),
    ("immediate", "bir.register_move %n = 1.5 : float8e4", "an immediate cannot be of float8e4"),
    ("register-alu", "bir.register_alu %n = average(%n, 1)", "Invalid enum variant for enum AluOpType: average"),
    ("register-width", "bir.register_move %w = %m", "register 'w' of 64 bits is used as int32"),
    (
        "register-width",
        "bir.register_move %w : int64 = %w : int64",
        "64bit REG MOVE instr must have ImmediateValue src",
    ),
    (
        "register-width",
        "bir.register_move %n = 1 : uint8",
        "only support fp32/uint32/int32 for REG MOVE instr, but got uint8",
    ),
    ("register-width", "bir.register_alu %n = add(%n : float32, 1)", "expected int32 or uint32 but got float32"),
    ("register-width", '%q = bir.register "q" <num_physical_regs = 3>', "expected 1 or 2 physical registers but got 3"),
    (
        "register",
        '%q = "test.op"() : () -> !bir.register bir.register_move %q = 1',
        "expected a register of this function",
    ),
    (
        "branch-compare",
        "bir.compare_and_branch IS_LTIMM(%n, %m) ^b, ^b ^b:",
        "expected an immediate on the right of IS_LTIMM",
    ),
    (
        "branch-compare",
        "bir.compare_and_branch IS_LTREG(%n, 1) ^b, ^b ^b:",
        "expected a register on the right of IS_LTREG",
    ),
    ("branch-compare", "bir.compare_and_branch Unsupported(%n, 1) ^b, ^b ^b:", "the comparison is Unsupported"),
    (
        "branch-compare",
        "bir.compare_and_branch IS_LTIMM(%w : int64, 1) ^b, ^b ^b:",
        "expected at most 32 bits on the left but got int64",
    ),
]

STORAGE_CASES = [
    ("name", '%q = bir.register "x"', "2 registers or memory locations are called 'x'"),
    (
        "capacity",
        '%q = bir.memory_location "q" : SB float32 [129, 4]',
        "at most 128 partitions but got 129 from partition 0",
    ),
    ("capacity", '%q = bir.memory_location "q" : SB float32 [64, 4] <base = 96>', "but got 64 from partition 96"),
    (
        "capacity",
        '%q = bir.memory_location "q" : SB float32 [128, 49153]',
        "at most 196608 bytes per partition of SB but got 196612 from byte 0",
    ),
    (
        "capacity",
        '%q = bir.memory_location "q" : PSUM float32 [128, 512] <addr = 15000>',
        "at most 16384 bytes per partition of PSUM",
    ),
    ("capacity", '%q = bir.memory_location "q" : DRAM float32 [0]', "expected positive extents but got [0]"),
    (
        "capacity",
        '%q = bir.memory_location "q" : SB float32 [4, 4] <partition_dim = 1>',
        "the partition to be dimension 0 but got 1",
    ),
    ("capacity", '%q = bir.register "q" <physical_id = 62>', "expected a physical register from 0 to 61 but got 62"),
    (
        "310",
        '%q = bir.memory_location "q" : RNGSTATE float32 [4]',
        "expected a location in DRAM, SB, PSUM but got RNGSTATE",
    ),
    (
        "set",
        '%q = bir.memory_location "q" : SB float32 [4] <set = "x_set", no_spill = true>',
        "'x' and 'q' of set 'x_set' differ in no_spill: False and True",
    ),
    (
        "placement",
        'bir.loop for %i "i" in range(0, 8, 1) { %q = bir.register "q" }',
        "expected bir.register in the first block of a function",
    ),
    ("placement", "bir.unconditional_branch ^b ^b: bir.break ^c:", "expected bir.break inside a loop"),
]

CASES = [*DYNAMIC_LOOP, *OTHER_FLOW, *ACCESSES, *STORAGE_CASES]


@pytest.mark.parametrize(("code", "body", "message"), CASES, ids=lambda value: str(value)[:60])
def test_each_rule(code: str, body: str, message: str) -> None:
    with pytest.raises(BirError) as caught:
        parse(body).verify()
    assert caught.value.code == code
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("lb", "stride", "ub", "code"),
    [
        ("floordiv(%n, 2)", "mult(1, 2)", "sum(%n, 1)", "182"),
        ("%n", "mult(1, 2)", "sum(%n, 1)", "183"),
        ("0", "mult(1, 2)", "sum(%n, 1)", "187"),
        ("0", "%n", "sum(%n, 1)", "188"),
        ("0", "-1", "sum(%n, 1)", "184"),
        ("0", "-1", "%n + reg(null)", "185"),
        ("0", "-1", "shard(8)", "186"),
        ("0", "-1", "reg(null)", "195"),
        ("0", "-1", "%n", "stride"),
    ],
)
def test_the_eight_checks_come_in_order(lb: str, stride: str, ub: str, code: str) -> None:
    with pytest.raises(BirError) as caught:
        parse(loop(lb, ub, stride)).verify()
    assert caught.value.code == code


def test_branch_to_the_first_block() -> None:
    module = parse(
        "bir.do_while { bir.unconditional_branch ^b ^b: bir.unconditional_branch ^c ^c: bir.continue } while %n"
    )
    region = next(op for op in module.walk() if op.name == "bir.do_while").regions[0]
    region.blocks[1].last_op.successors[0] = region.blocks[0]
    with pytest.raises(BirError, match="a branch goes to the first block of its region") as caught:
        module.verify()
    assert caught.value.code == "branch-to-entry"


def test_induction_variable_outside_its_loop() -> None:
    module = parse('bir.loop for %i "i" in range(0, 8, 1) { bir.memset %x[%i][[512, 128], [1, 4]] }')
    module.verify()
    loop_op = next(op for op in module.walk() if op.name == "bir.loop")
    memset = loop_op.regions[0].block.first_op
    memset.detach()
    loop_op.parent.insert_op_after(memset, loop_op)
    with pytest.raises(BirError, match="an induction variable is used outside its loop") as caught:
        memset.verify()
    assert caught.value.code == "induction-variable"


def test_a_loop_may_not_bound_itself() -> None:
    module = parse(loop())
    loop_op = next(op for op in module.walk() if op.name == "bir.dynamic_for_loop")
    loop_op.operands = [loop_op.induction_variable]
    with pytest.raises(BirError) as caught:
        loop_op.verify()
    assert caught.value.code == "register"


def test_every_code_is_tested() -> None:
    elsewhere = {"branch-to-entry", "induction-variable"}
    assert {case[0] for case in CASES} | elsewhere == CODES.keys()


@pytest.mark.parametrize(
    "body",
    [
        loop(ub="-3 * %n + 7", lb="-5", stride="2", keys="<max_tripcount = 0>"),
        'bir.loop for %i "i" in range(0, 0, 0) { }',
        'bir.loop for %i "i" in range(3, 3, 1) { } bir.loop for %i "i" in range(0, 1, 1) { }',
        "bir.do_while { bir.compare_and_branch IS_EQIMM(%n, 0) ^b, ^c ^b: bir.break ^c: bir.continue } while %n",
        "bir.memset %x[16384][[512, 32], [1, 4]] bir.memset %x[32768][[512, 64], [1, 4]]",
        "bir.memset %x[4096 * %n][[512, 128], [1, 4]] on Pool",
        "bir.matmult %p = %x, %y[0][[512, 128], [1, 128]] on PE",
        "bir.tensor_reduce %s = max(%x) <axis = X, negate = true> on DVE",
        "bir.activation %y = Exp(%x, 0.5) <scale = 2.0> bir.activation %y = Exp(%x, %s)",
        "bir.register_move %w : int64 = 5 : int64",
        "bir.register_alu %w : uint64 = add(%w : uint64, 1 : uint64) <is_64bit = true>",
        "bir.load %x[0][[512, 3], [1, 4]] = %d[1][[512, 3], [1, 4]] on DMA",
        "bir.dma_copy %x[512][[512, 3], [1, 4]] = %x[1024][[512, 3], [1, 4]] on DMA",
    ],
)
def test_well_formed(body: str) -> None:
    parse(body).verify()

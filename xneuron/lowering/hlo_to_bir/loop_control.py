"""How often a loop's body runs: a static loop, a loop up to a register, or a guard and a do-while."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import SSAValue

from xneuron.analysis.loop_form import WRITTEN, DoWhile, Dynamic, Operand, Static, slot_text
from xneuron.dialects.bir.branches import ExitOp
from xneuron.dialects.bir.enums import AluOpType, BranchCompareOp
from xneuron.dialects.bir.expressions import affine
from xneuron.dialects.bir.registers import RegisterAluOp, RegisterMoveOp
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.remarks import declare, remark

from .aliases import name_in_body
from .computations import Lowering
from .values import Buffer, Splat, Tree, at

PASS = "convert-hlo-to-bir"
STATIC = declare("lowered-to-loop", "The loop's trip count is known: it became a bir.loop.")
DYNAMIC = declare("lowered-to-dynamic-for-loop", "The loop's bound is in a register: it became a bir.dynamic_for_loop.")
TESTED = declare("lowered-to-do-while", "The loop became a guard and a bir.do_while; the message says why.")

ALU = {
    "LT": AluOpType.is_lt,
    "LE": AluOpType.is_le,
    "GT": AluOpType.is_gt,
    "GE": AluOpType.is_ge,
    "NE": AluOpType.not_equal,
}


class LoopControl:
    """One loop. Made before its state is: the scalars that bound it are read from what the state is made of."""

    def __init__(self, low: Lowering, op: WhileOp, inits: Tree) -> None:
        self.low, self.op = low, op
        self.form = low.indices.form(op)
        if isinstance(self.form, Dynamic):
            self._load(self.form.bound, inits, "bound")
            self._load(self.form.start, inits, "start")

    def _load(self, operand: Operand, inits: Tree, wanted: str) -> None:
        """A slot of the state in a register; a number stays one."""
        if isinstance(operand, int):
            return
        leaf = at(inits, operand)
        assert isinstance(leaf, Buffer | Splat)
        self.low.entries[self.op, operand] = self.low.load(self.low.written(leaf), wanted)

    def _operand(self, operand: Operand) -> SSAValue | int:
        """The register of a slot, or the number itself as a register has it."""
        return _signed(operand) if isinstance(operand, int) else self.low.entries[self.op, operand]

    def repeat(self, body: Callable[[], object], test: Callable[[SSAValue], None]) -> None:
        """Emits the loop: `body` emits an iteration, `test` puts the condition of the present state in a register."""
        match self.form:
            case Static(count=count):
                self._static(count, body)
            case Dynamic() as form:
                self._dynamic(form, body)
            case DoWhile() as form:
                self._tested(form, body, test)

    def _static(self, count: int, body: Callable[[], object]) -> None:
        remark("passed", PASS, STATIC, self.op, f"lowered to bir.loop: it runs {count} times", trips=count)
        if not count:
            return
        with self.low.builder.loop(self._axis_name(), count) as iv:
            self.low.axes[self.op] = iv
            body()

    def _axis_name(self) -> str:
        """The name of the counter in the body, if it has one."""
        slot = self.form.slot if not isinstance(self.form, DoWhile) else None
        return name_in_body(self.op, (slot,) if isinstance(slot, int) else slot) or "i"

    # A bound in a register

    def _dynamic(self, form: Dynamic, body: Callable[[], object]) -> None:
        message = f"lowered to bir.dynamic_for_loop: {described(form)}"
        remark("passed", PASS, DYNAMIC, self.op, message, coefficient=form.coeff, constant=form.const)
        ub = affine(self._register(form), form.coeff, form.const)
        with self.low.builder.dynamic_loop(self._axis_name(), form.lb, ub, form.stride) as iv:
            self.low.axes[self.op] = iv
            body()

    def _register(self, form: Dynamic) -> SSAValue:
        """The register of the bound, behind the guards that the form asks for."""
        bound = self._operand(form.bound)
        if form.never_ends is not None and isinstance(bound, SSAValue):
            self._guard(BranchCompareOp.IS_EQIMM, bound, _signed(form.never_ends), self._for_ever)
        register = self._distance(form) if form.distance else self._operand(_one_of(form))
        assert isinstance(register, SSAValue)
        if form.too_far:
            self._guard(BranchCompareOp.IS_LTIMM, register, 0, self._give_up)
        return register

    def _distance(self, form: Dynamic) -> SSAValue:
        """How far the counter has to go, which wraps as the counter does."""
        assert form.distance is not None
        builder, distance = self.low.builder, self.low.builder.register("distance")
        first, second = (form.bound, form.start) if form.rising else (form.start, form.bound)

        def alu(op: AluOpType, source: SSAValue, operand: SSAValue | int) -> None:
            builder.emit(RegisterAluOp([distance], [source, operand], op=op))

        builder.emit(RegisterMoveOp([distance], [self._operand(first)]))
        alu(AluOpType.subtract, distance, self._operand(second))
        if form.distance.extra:
            alu(AluOpType.add, distance, form.distance.extra)
        if form.distance.mask is not None:
            alu(AluOpType.bitwise_and, distance, form.distance.mask)
        if form.distance.tested:
            alu(AluOpType.mult, distance, self._begins(form))
        return distance

    def _begins(self, form: Dynamic) -> SSAValue:
        """1 if the loop runs at all, else 0."""
        builder, begins = self.low.builder, self.low.builder.register("begins")
        builder.emit(RegisterMoveOp([begins], [self._operand(form.start)]))
        right = self._operand(form.bound)
        builder.emit(RegisterAluOp([begins], [begins, right], op=ALU[form.compare]))
        return begins

    def _guard(self, compare: BranchCompareOp, register: SSAValue, number: int, otherwise: Callable[[], None]) -> None:
        """Runs `otherwise`, which does not come back, where the comparison holds."""
        builder = self.low.builder
        unusual, usual = builder.new_block("unusual"), builder.new_block("usual")
        builder.branch(compare, register, number, unusual, usual)
        builder.start(unusual)
        otherwise()
        builder.emit(ExitOp())
        builder.start(usual)

    def _for_ever(self) -> None:
        """An empty loop without an end, as the HLO loop has none."""
        true = self.low.builder.register("true")
        self.low.builder.emit(RegisterMoveOp([true], [1]))
        with self.low.builder.do_while(true):
            pass

    def _give_up(self) -> None:
        """2**31 iterations or more: the program aborts, as it does in `bir-lower-loops-to-branches`."""

    # A condition

    def _tested(self, form: DoWhile, body: Callable[[], object], test: Callable[[SSAValue], None]) -> None:
        """```text
        test r; if r == 0 goto after else enter; enter: do { body; test r } while r; after:
        ```
        """
        remark(
            "passed",
            PASS,
            TESTED,
            self.op,
            f"lowered to a guard and bir.do_while: {form.reason}",
            reason=form.reason_code,
        )
        builder = self.low.builder
        again = builder.register("again")
        enter, after = builder.new_block("enter"), builder.new_block("after")
        test(again)
        builder.branch(BranchCompareOp.IS_EQIMM, again, 0, after, enter)
        builder.start(enter)
        with builder.do_while(again):
            body()
            test(again)
        builder.go_to(after)
        builder.start(after)


def _signed(number: int) -> int:
    """The low 32 bits as a signed number."""
    return (number + 2**31) % 2**32 - 2**31


def _one_of(form: Dynamic) -> Operand:
    """The slot that the register holds, where it is no distance."""
    return form.bound if form.register == "bound" else form.start


def described(form: Dynamic) -> str:
    """`while slot 0 < slot 1`, for people."""
    bound = form.bound if isinstance(form.bound, int) else f"slot {slot_text(form.bound)}"
    return f"while slot {slot_text(form.slot)} {WRITTEN[form.compare]} {bound}, in steps of {form.step}"

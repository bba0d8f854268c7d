"""IR to HLO text: modules and computations, as XLA prints them (xla-semantics.md d.9)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.dialects.func import ReturnOp as FuncReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.attributes import ComputationAttr, text_of
from xneuron.dialects.hlo.control_flow import ControlDependencyOp, ReturnOp
from xneuron.dialects.hlo.functions import entry_of
from xneuron.dialects.hlo.types import compatible
from xneuron.formats.hlo_text.async_sugar import wrapped
from xneuron.formats.hlo_text.header import LAYOUT, PREFIX, print_header
from xneuron.formats.hlo_text.lexer import quote
from xneuron.formats.hlo_text.lines import LinePrinter
from xneuron.formats.hlo_text.names import Uniquifier, are_valid, sanitized
from xneuron.formats.hlo_text.opcodes import spelled_opcode
from xneuron.formats.hlo_text.shapes import print_shape

_TERMINATORS = (ReturnOp, FuncReturnOp)
_NO_ATTRIBUTES: dict[str, Attribute] = {}


def print_hlo(module: ModuleOp) -> str:
    """The module in HLO text. Raises VerifyException for what HLO text cannot say."""
    try:
        return _ModulePrinter(module).text()
    except RecursionError:
        raise VerifyException("expected less nesting of loops and computations") from None


class _ModulePrinter:
    """One print: the computations written so far, and the names that they use."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        self.texts: list[str] = []
        self.written: dict[tuple[str, str], str] = {}
        self.functions: dict[str, str] = {}
        self.computation_names = Uniquifier()
        self.instruction_names = Uniquifier()
        self.lines = LinePrinter()

    def text(self) -> str:
        """The whole text."""
        functions = _ordered(self.module)
        for function in functions:
            prefix = "ENTRY " if function is functions[-1] else ""
            thread = text_of(function.attributes.get("execution_thread"))
            name = function.sym_name.data
            self.functions[name] = self._computation(
                function.body, name, thread, _argument_attributes(function), prefix
            )
        name = self.module.sym_name
        header = print_header(sanitized(name.data if name else "module"), self._header(functions[-1]))
        return "\n\n".join([header, *self.texts]) + "\n"

    def _header(self, entry: FuncOp) -> dict[str, Attribute]:
        """The module's attributes; the layout of the entry computation from its types, unless it says another one."""
        declared, actual = self.module.attributes.get(PREFIX + LAYOUT), entry.function_type
        if not (isinstance(declared, FunctionType) and _same_shapes(declared, actual)):
            declared = actual
        return {**self.module.attributes, PREFIX + LAYOUT: declared}

    def _computation(
        self, body: Region, name: str, thread: str, arguments: Sequence[DictionaryAttr], prefix: str = ""
    ) -> str:
        """Writes a computation unless an equal one of the same name is there already; its name with `%`."""
        scope = Scope(_single_block(body, name))
        name, own = sanitized(name), Uniquifier()
        names = scope.named(own)
        text = self._text(scope, names, arguments, thread)
        if (known := self.written.get((name, text))) is not None and not prefix:
            return known
        final = self.written[name, text] = f"%{self.computation_names.take(name)}"
        if self.instruction_names.taken.isdisjoint(own.taken):
            self.instruction_names.taken |= own.taken
        else:
            text = self._text(scope, scope.named(self.instruction_names), arguments, thread)
        self.texts.append(f"{prefix}{final} {text}")
        return final

    def _text(self, scope: Scope, names: dict[int, str], arguments: Sequence[DictionaryAttr], thread: str) -> str:
        """Signature and body. Writes the computations that the body needs before it."""
        root, line, none = scope.root, self.lines.line, ()
        predecessors = scope.predecessors(names)
        rows = ["{"]
        for number, argument in enumerate(scope.block.args):
            own = arguments[number].data if number < len(arguments) else _NO_ATTRIBUTES
            text = self.lines.parameter(names[id(argument)], argument.type, number, own)
            rows.append(f"  {'ROOT ' if argument is root else ''}{text}")
        for op, result in zip(scope.ops, scope.results, strict=True):
            called = self._called(wrapped(op) or op) if op.regions or type(op) is CallOp else none
            before = predecessors.get(id(result), none) if predecessors else none
            rows.append(("  ROOT " if result is root else "  ") + line(op, result, names, called, before))
        rows.append("}" + (f", execution_thread={quote(thread)}" if thread else ""))
        return f"{_signature(scope.block, names, root.type)} " + "\n".join(rows)

    def _called(self, op: Operation) -> list[str]:
        """Names of the computations that an op calls or owns, in order."""
        if isinstance(op, CallOp):
            return [self.functions[op.callee.string_value()]]
        infos = cast("ArrayAttr[ComputationAttr] | None", op.properties.get("computations"))
        known = infos.data if infos is not None and len(infos.data) == len(op.regions) else [None] * len(op.regions)
        names: list[str] = []
        for region, info in zip(op.regions, known, strict=True):
            name = info.computation_name.data if info else f"{spelled_opcode(op)}_computation"
            details = info.info.data if info else _NO_ATTRIBUTES
            arguments = cast("ArrayAttr[DictionaryAttr]", details.get("parameters", ArrayAttr(()))).data
            names.append(self._computation(region, name, text_of(details.get("execution_thread")), arguments))
        return names


class Scope:
    """A computation's block, looked at once: ops, their results, dependencies, the root.

    Raises VerifyException if it is not one that HLO text can express.
    """

    def __init__(self, block: Block) -> None:
        self.block = block
        self.ops: list[Operation] = []
        self.results: list[OpResult] = []
        self.dependencies: list[ControlDependencyOp] = []
        last = block.last_op
        if not isinstance(last, _TERMINATORS) or len(last.operands) != 1:
            raise VerifyException("expected a computation that returns one value; HLO text cannot express others")
        self.root = last.operands[0]
        for op in block.ops:
            if len(results := op.results) == 1:
                self.ops.append(op)
                self.results += results
            elif isinstance(op, ControlDependencyOp):
                self.dependencies.append(op)
            elif op is not last:
                raise VerifyException(
                    f"expected an operation with one result, found {op.name} with {len(results)} results"
                )

    def named(self, unique: Uniquifier) -> dict[int, str]:
        """Names (with `%`) of all values, by `id`."""
        values = [*self.block.args, *self.results]
        hints = [value.name_hint or _default_name(value) for value in values]
        if not are_valid(hints):
            hints = [sanitized(hint) for hint in hints]
        return {id(value): f"%{name}" for value, name in zip(values, unique.take_all(hints), strict=True)}

    def predecessors(self, names: dict[int, str]) -> dict[int, list[str]]:
        """Names of the control predecessors of each value that has some, by `id`."""
        found: dict[int, list[str]] = {}
        for dependency in self.dependencies:
            found.setdefault(id(dependency.successor), []).append(names[id(dependency.predecessor)])
        return found


def _argument_attributes(function: FuncOp) -> Sequence[DictionaryAttr]:
    return function.arg_attrs.data if function.arg_attrs else ()


def _same_shapes(a: FunctionType, b: FunctionType) -> bool:
    left, right = [*a.inputs.data, *a.outputs.data], [*b.inputs.data, *b.outputs.data]
    return len(left) == len(right) and all(map(compatible, left, right))


def _single_block(region: Region, of: str) -> Block:
    blocks = list(region.blocks)
    if len(blocks) != 1:
        raise VerifyException(f"expected one block in the computation of {of}, found {len(blocks)}")
    return blocks[0]


def _signature(block: Block, names: dict[int, str], type: Attribute) -> str:
    parameters = ", ".join(f"{names[id(arg)][1:]}: {print_shape(arg.type, layout=False)}" for arg in block.args)
    return f"({parameters}) -> {print_shape(type, layout=False)}"


def _default_name(value: SSAValue) -> str:
    if isinstance(value, BlockArgument):
        return f"parameter.{value.index}"
    owner = value.owner
    return spelled_opcode(owner) if isinstance(owner, Operation) else "value"


def _ordered(module: ModuleOp) -> list[FuncOp]:
    """All functions, callees before callers and the entry last. The order does not depend on that in the module."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    for function in functions.values():
        _single_block(function.body, function.sym_name.data)
    if others := [op.name for op in module.ops if not isinstance(op, FuncOp)]:
        raise VerifyException(f"expected a module of functions only, found {others[0]}")
    order = _callees_first(functions, [entry_of(module).sym_name.data])
    rest = _callees_first(functions, [name for name in functions if name not in order])
    names = [*order[:-1], *(name for name in rest if name not in order), order[-1]]
    return [functions[name] for name in names]


def _callees_first(functions: dict[str, FuncOp], roots: Sequence[str]) -> list[str]:
    """Post-order of the call graph, without recursion: chains of calls may be long."""
    done: dict[str, None] = {}
    open_calls: dict[str, None] = {}
    stack = list(reversed(roots))
    while stack:
        name = stack[-1]
        if name in done:
            stack.pop()
        elif name in open_calls:
            stack.pop()
            done[name] = None
        else:
            open_calls[name] = None
            callees = _callees(functions, name)
            if recursive := [callee for callee in callees if callee in open_calls and callee not in done]:
                raise VerifyException(f"expected calls without recursion, found a call of {recursive[0]} in {name}")
            stack += [callee for callee in reversed(callees) if callee not in done]
    return list(done)


def _callees(functions: dict[str, FuncOp], name: str) -> list[str]:
    names = [op.callee.string_value() for op in _calls(functions[name].body.block)]
    if missing := [callee for callee in names if callee not in functions]:
        raise VerifyException(f"expected a function for each call, found none for {missing[0]}")
    return list(dict.fromkeys(names))


def _calls(block: Block) -> Iterator[CallOp]:
    for op in block.ops:
        if isinstance(op, CallOp):
            yield op
        for region in op.regions:
            yield from _calls(_single_block(region, op.name))

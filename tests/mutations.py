"""The small changes that `make mutants` makes: each replaces one piece of a file's text by another."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

EDGE_KEYWORDS = ("depends_on", "after", "provider", "providers", "certificates")
EDGE_CALLS = ("in_cluster", "_in_kubernetes", "child")
"""Methods whose positional arguments are what a resource waits for."""
KEPT_EDGES = ("egress", "grants", "ready", "rules")
"""Attributes of components that hold what others wait for."""
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
HARMLESS_KEYWORDS = frozenset({"title", "help", "description", "style", "soft_wrap", "highlight", "source", "transient", "purpose"})
"""Words for people and looks: no test should hold them to the letter."""


@dataclass(frozen=True)
class Mutation:
    """One change of one file, by line and column as the ast module counts them (columns in bytes of UTF-8)."""

    path: str
    begin: tuple[int, int]
    end: tuple[int, int]
    old: str
    new: str

    def __str__(self) -> str:
        old = " ".join(self.old.split())
        return f"{self.path}:{self.begin[0]} {old[:80]} -> {self.new or '(dropped)'}"

    def applied(self, text: str) -> str:
        """The changed text. Raises ValueError where the place holds something else."""
        data, lines = text.encode(), text.encode().splitlines(keepends=True)
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line))
        begin, end = (starts[line - 1] + column for line, column in (self.begin, self.end))
        if data[begin:end].decode() != self.old:
            raise ValueError(f"{self.path} has changed since it was read")
        return (data[:begin] + self.new.encode() + data[end:]).decode()


def edge_mutations(path: str, text: str) -> Iterator[Mutation]:
    """Each edge of the program dropped: an element of a list where there is one, else the whole argument."""
    tree = ast.parse(text)
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            yield from _dropped_from_lists(path, text, function)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        for keyword in node.keywords:
            if keyword.arg in EDGE_KEYWORDS and not _hands_on(keyword.value):
                empty = "None" if keyword.arg == "provider" else "[]"
                yield from _dropped(path, text, keyword.value, empty)
        if isinstance(node.func, ast.Attribute) and node.func.attr in EDGE_CALLS:
            for argument in node.args:
                if not (isinstance(argument, ast.Starred) and _hands_on(argument.value)):
                    yield _unheard(path, text, argument)


def _dropped(path: str, text: str, value: ast.expr, empty: str) -> Iterator[Mutation]:
    if isinstance(value, ast.List | ast.Tuple) and len(value.elts) > 1:
        for element in value.elts:
            yield _unheard(path, text, element)
    elif ast.unparse(value) not in ("[]", "None"):
        yield _change(path, text, value, f"({ast.unparse(value)}, {empty})[1]")


def _unheard(path: str, text: str, element: ast.expr) -> Mutation:
    """An element that is still worked out, since it may make the resource itself, and then left out."""
    whole = f"list({ast.unparse(element.value)})" if isinstance(element, ast.Starred) else f"[{ast.unparse(element)}]"
    return _change(path, text, element, f"*{whole}[:0]")


def _dropped_from_lists(path: str, text: str, function: ast.FunctionDef) -> Iterator[Mutation]:
    """Elements of lists that a function names before it passes them to a resource, or stores as what others wait for."""
    edges = [
        keyword.value
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg in EDGE_KEYWORDS
    ]
    starred = [node.value for node in ast.walk(function) if isinstance(node, ast.Starred)]
    names = {node.id for value in (*edges, *starred) for node in ast.walk(value) if isinstance(node, ast.Name)}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if (isinstance(target, ast.Name) and target.id in names) or (isinstance(target, ast.Attribute) and target.attr in KEPT_EDGES):
                yield from (_unheard(path, text, element) for held in _lists(node.value) for element in held.elts)


def _lists(value: ast.expr) -> Iterator[ast.List]:
    """Lists that a value is, or may be; not those inside a call."""
    match value:
        case ast.List():
            yield value
        case ast.IfExp():
            yield from (*_lists(value.body), *_lists(value.orelse))
        case ast.BinOp():
            yield from (*_lists(value.left), *_lists(value.right))
        case _:
            pass


def _hands_on(value: ast.expr) -> bool:
    """Whether it only passes on what a caller gave, whose own place is mutated: `list(after)`, `after or []`, a bare `depends_on`."""
    names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    return bool(names) and names <= {"after", "depends_on", "list", "own", "provider"}


def mutations(path: str, text: str) -> Iterator[Mutation]:
    """Every other small change: conditions, comparisons, constants, arguments, statements, results."""
    tree = ast.parse(text)
    for parent in ast.walk(tree):
        for child in ast.iter_child_nodes(parent):
            child._parent = parent  # pyright: ignore[reportAttributeAccessIssue]  # ast nodes take any attribute
    for node in ast.walk(tree):
        if not _is_of_types(node):
            yield from _of_node(path, text, node)


def _of_node(path: str, text: str, node: ast.AST) -> Iterator[Mutation]:
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
            flipped = ast.Compare(node.left, [COMPARISONS[type(op)]()], node.comparators)
            yield _change(path, text, node, f"({ast.unparse(flipped)})")
        case ast.BoolOp():
            other = ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
            yield _change(path, text, node, f"({ast.unparse(other)})")
        case ast.UnaryOp(op=ast.Not()):
            yield _change(path, text, node, f"({ast.unparse(node.operand)})")
        case ast.If() | ast.IfExp() | ast.While() if not isinstance(node.test, ast.Compare | ast.BoolOp | ast.UnaryOp):
            yield _change(path, text, node.test, f"(not {ast.unparse(node.test)})")
        case ast.Constant(value=bool()):
            yield _change(path, text, node, str(not node.value))
        case ast.Constant(value=value) if isinstance(value, int | float):
            yield from (_change(path, text, node, repr(value + step)) for step in (1, -1))
        case ast.Constant(value=str(value)) if value.isdigit():
            yield _change(path, text, node, repr(str(int(value) + 1)))
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield _change(path, text, value, "None")
        case ast.Expr(value=ast.Call()) if not _is_alone(node):
            yield _change(path, text, node, "pass")
        case ast.Call():
            for keyword in node.keywords:
                if keyword.arg is not None and keyword.arg not in HARMLESS_KEYWORDS | set(EDGE_KEYWORDS):
                    yield _without_keyword(path, text, node, keyword)
        case _:
            pass


def _without_keyword(path: str, text: str, call: ast.Call, keyword: ast.keyword) -> Mutation:
    kept = ast.Call(call.func, call.args, [other for other in call.keywords if other is not keyword])
    mutation = _change(path, text, call, ast.unparse(kept))
    return Mutation(mutation.path, mutation.begin, mutation.end, mutation.old, mutation.new)


def _is_of_types(node: ast.AST) -> bool:
    """Inside an annotation, where a change changes nothing that runs."""
    while (parent := getattr(node, "_parent", None)) is not None:
        if isinstance(parent, ast.AnnAssign | ast.arg) and parent.annotation is node:
            return True
        if isinstance(parent, ast.FunctionDef) and parent.returns is node:
            return True
        node = parent
    return False


def _is_alone(node: ast.Expr) -> bool:
    """A constructor's call of its parent's: without it nothing works, which says nothing of the tests."""
    return ast.unparse(node).startswith("super().__init__")


def _change(path: str, text: str, node: ast.expr | ast.stmt, new: str) -> Mutation:
    old = ast.get_source_segment(text, node)
    assert old is not None
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return Mutation(path, (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset), old, new)

"""The public definitions of a Python module, by the language's own parser. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

#: (qualified name, title, text, format, lines)
Found = tuple[str, str, str, str, tuple[int, int] | None]


def definitions(module: str, source: str) -> Iterator[Found]:
    """The module itself, its public classes, functions and methods, each as signature and docstring.
    Gives nothing for a file that is no Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    if doc := ast.get_docstring(tree):
        yield module, module, f"module {module}\n\n{doc}", "python", None
    yield from _inside(module, tree.body, source.splitlines())


def _inside(prefix: str, body: list[ast.stmt], lines: list[str]) -> Iterator[Found]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and _is_public(node.name):
            name = f"{prefix}.{node.name}"
            doc = ast.get_docstring(node) or ""
            text = f"{_signature(node)}\n\n{doc}".strip()
            yield name, name, text, "python", (node.lineno, node.end_lineno or node.lineno)
            if isinstance(node, ast.ClassDef):
                yield from _inside(name, node.body, lines)


def _is_public(name: str) -> bool:
    return not name.startswith("_") or name == "__init__"


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    """As it would be written on one line, without decorators and body."""
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(ast.unparse(base) for base in [*node.bases, *(k.value for k in node.keywords)])
        return f"class {node.name}({bases})" if bases else f"class {node.name}"
    prefix = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{prefix} {node.name}({ast.unparse(node.args)}){returns}"

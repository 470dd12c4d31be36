"""Every clause has a test, and every number that a test names is a clause."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

from clauses import clauses, shown_clauses

from palprep.sandbox import Choices
from palprep.sandbox.choices import listing

HERE = Path(__file__).parent


def shown() -> Counter[str]:
    """How many tests are marked with each clause, read from the tests' source."""
    found: Counter[str] = Counter()
    for path in HERE.glob("test_*.py"):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                for decorator in function.decorator_list:
                    found.update(_numbers(decorator))
    return found


def _numbers(decorator: ast.expr) -> list[str]:
    if not isinstance(decorator, ast.Call) or not isinstance(decorator.func, ast.Attribute):
        return []
    if decorator.func.attr != "clause":
        return []
    return [ast.literal_eval(argument) for argument in decorator.args]


def test_every_clause_is_shown_by_a_test():
    assert sorted(shown_clauses().keys() - shown().keys()) == []


def test_every_number_is_a_clause():
    assert sorted(shown().keys() - shown_clauses().keys()) == []
    assert len(clauses()) >= 185


def test_what_holds_by_a_choice_is_among_the_choices():
    listed = {choice["id"] for choice in listing(Choices())}
    named = {clause.choice for clause in clauses().values() if clause.choice is not None}
    assert sorted(named - listed) == []
    assert len(named) >= 10

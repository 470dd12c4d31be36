"""The service as a stranger sees it: raw JSON in, raw JSON out, time moved by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from clauses import clauses, shown_clauses
from raw import Raw
from receiver import Receiver, receiving
from through import ThroughAsyncClient, ThroughClient

from palprep.sandbox import Sandbox

WAYS = {"http": Raw, "client": ThroughClient, "async-client": ThroughAsyncClient}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let each test's clauses travel with its outcome."""
    for item in items:
        for mark in item.iter_markers("clause"):
            item.user_properties.extend(("clause", number) for number in mark.args)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How much of the specification this run has shown, and where it failed."""

    def seen(outcome: str) -> set[str]:
        reports = terminalreporter.stats.get(outcome, ())
        return {value for r in reports for name, value in r.user_properties if name == "clause"}

    known, passed, failed = shown_clauses(), seen("passed"), seen("failed")
    if not passed | failed:
        return
    shown = len(passed - failed)
    terminalreporter.section("specification")
    by_choice = sum(clause.choice is not None for clause in known.values())
    terminalreporter.write_line(
        f"{shown} of {len(known)} clauses shown ({100 * shown / len(known):.0f}%), {by_choice} of "
        f"them hold by a listed choice; {len(clauses()) - len(known)} more cannot be seen"
    )
    for number in known.keys() & failed:
        terminalreporter.write_line(f"failed: {number}: {known[number].text}")


@pytest.fixture(scope="package", params=WAYS.values(), ids=WAYS)
def through(request: pytest.FixtureRequest) -> type[Raw]:
    """Plain HTTP, and both of palprep's clients: every clause is shown by each."""
    way: type[Raw] = request.param
    return way


@pytest.fixture(scope="package")
def api(through: type[Raw]) -> Iterator[Raw]:
    """One sandbox for all clauses: every test makes resources of its own."""
    with Sandbox(clock="virtual") as sandbox, through(sandbox) as raw:
        yield raw


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running

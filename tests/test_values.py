"""Arguments of a wrong type, wherever a script gives them, are told in words."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import palprep
from palprep.values import require_type

NOWHERE = "nowhere.jpg"
JANE = {"full_name": "Jane Carter"}


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: palprep.check(NOWHERE, engine="local"), "engine takes Engine or None, not str"),
        (lambda: palprep.check(NOWHERE, speaker=123), "speaker takes Speaker or str or None"),
        (lambda: palprep.prepare(NOWHERE, into=None), "into takes str or Path, not NoneType"),
        (lambda: palprep.prepare(NOWHERE, into=""), "into is empty: give a path"),
        (lambda: palprep.run("", into="x"), "people is empty: give a path"),
        (lambda: palprep.prepare(NOWHERE, into="x", progress=True), "progress takes Callable"),
        (lambda: palprep.prepare(NOWHERE, into="x", overwrite="no"), "overwrite takes bool"),
        (lambda: palprep.media_workers("2"), "jobs takes int or None, not str"),
        (lambda: palprep.media_workers(1, limits={}), "limits takes Limits or None, not dict"),
        (lambda: palprep.verify_consent(NOWHERE, full_name=5), "full_name takes str, not int"),
        (
            lambda: palprep.verify_consent(NOWHERE, **JANE, statement=Path("words.txt")),
            "statement takes str or None, not .*Path",
        ),
        (lambda: palprep.verify_consent(NOWHERE, **JANE, code="a b c"), "code takes AskedCode"),
        (lambda: palprep.pick_best(5), "Give a file as a path, .*, not as int"),
        (lambda: palprep.pick_best([NOWHERE], per_second="2"), "per_second takes float, not str"),
        (lambda: palprep.pick_best([NOWHERE], per_second=0), "per_second must be more than 0"),
        (lambda: palprep.same_person(None), "paths takes Iterable, not NoneType"),
        (
            lambda: palprep.Journal.of(5),
            r"folder takes str or Path, not int; help\(palprep.Journal",
        ),
        (
            lambda: palprep.Journal(5),
            r"path takes str or Path or None, not int; help\(palprep.Journal",
        ),
        (
            lambda: palprep.Selection(limit="2"),
            "limit takes int or None, not str; help.palprep.Sel",
        ),
        (lambda: palprep.Selection(only="ada"), "only takes Sequence, not str"),
        (lambda: palprep.Shard("1", "4"), "number takes int, not str"),
        (lambda: palprep.run(None), "people takes .*, not NoneType"),
        (lambda: palprep.Pace(wait_s=None), "wait_s takes float, not NoneType; help.palprep.Pace"),
        (lambda: palprep.Pace(max_creates="2"), "max_creates takes int or None, not str"),
        (lambda: palprep.Pace(max_creates=-1), "max_creates must be at least 0, not -1"),
        (lambda: palprep.Pace(requests_per_s=0), "requests_per_s must be at least 1, not 0"),
        (lambda: palprep.RunOptions(without_consent="false"), "without_consent takes bool"),
        (lambda: palprep.RunOptions(pace=None), "pace takes Pace, not NoneType"),
        (lambda: palprep.Pace(doubt_wait_s="30"), "doubt_wait_s takes float, not str"),
        (
            lambda: palprep.Client(api_key="k", base_url="http://127.0.0.1:9").request("GET", None),
            "a path from the base URL on",
        ),
        (lambda: palprep.Journal.of("a\0b"), r"folder is no possible path: 'a\\x00b'; help"),
        (lambda: palprep.run("\ud800", into="x"), "people is no possible path: "),
        (lambda: palprep.check(NOWHERE, quick=10**400), "quick takes bool, not int"),
        (lambda: palprep.prepare(NOWHERE, into=np.zeros(3)), "into takes str or Path, not ndarray"),
        (lambda: palprep.CallbackServer(print, host=None), "host takes str, not NoneType"),
        (lambda: palprep.PublicCallbacks(None, "secret"), "address takes str, not NoneType"),
        (lambda: palprep.Delivery.read(b"{}", 5), "tag takes str or None, not int"),
        (
            lambda: palprep.ObjectStorePublisher("s3://a", config=[1]),
            "config takes Mapping or None",
        ),
        (lambda: palprep.SandboxPublisher("127.0.0.1:8700"), "form http://HOST:PORT"),
    ],
)
def test_an_argument_of_a_wrong_type_is_told_in_words(call, says):
    with pytest.raises(palprep.UsageError, match=says):
        call()


@pytest.mark.parametrize(
    ("value", "declared"),
    [
        (np.float32(2), float),
        (Fraction(1, 2), float),
        (np.int64(2), int | None),
        (Path(), str | Path),
        ("models/own", Path | str | None),
        (("a",), tuple[str, ...] | None),
    ],
)
def test_numbers_of_numpy_and_every_path_are_taken(value, declared):
    require_type("value", value, declared)


def test_no_time_is_nan():
    for number in (float("nan"), np.float32("nan")):
        with pytest.raises(palprep.UsageError, match="timeout takes a number, not nan"):
            require_type("timeout", number, float)
    require_type("timeout", float("inf"), float)

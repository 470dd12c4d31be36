"""Small, repeatable damage to a file, as data: so that a case can be minimised and made again."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

MOST_MUTATIONS = 6


class Mutation(NamedTuple):
    """One piece of damage."""

    kind: str
    place: float
    """0 to 1, from the start to the end of the file."""
    value: int
    """What is written or how much is moved; each kind takes it as it needs."""


NUMBERS = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
FLOATS = (float("nan"), float("inf"), float("-inf"), 1e30, -1e30, 1e-40, 0.0)


def _flipped(data: bytearray, at: int, value: int) -> None:
    data[at] ^= 1 << value % 8


def _byte(data: bytearray, at: int, value: int) -> None:
    data[at] = value % 256


def _number(data: bytearray, at: int, value: int) -> None:
    form = (">H", "<H", ">I", "<I")[value % 4]
    number = NUMBERS[value // 4 % len(NUMBERS)] & (0xFFFF if form[1] == "H" else 0xFFFFFFFF)
    written = struct.pack(form, number)
    data[at : at + len(written)] = written


def _float(data: bytearray, at: int, value: int) -> None:
    form = ("<f", ">f", "<d", ">d")[value % 4]
    written = struct.pack(form, FLOATS[value // 4 % len(FLOATS)])
    at -= at % 4
    data[at : at + len(written)] = written


def _removed(data: bytearray, at: int, value: int) -> None:
    del data[at : at + 1 + value % 64]


def _repeated(data: bytearray, at: int, value: int) -> None:
    part = data[at : at + 1 + value % 256]
    data[at:at] = part * (1 + value % 16)


def _zeroed(data: bytearray, at: int, value: int) -> None:
    length = min(1 + value % 4096, len(data) - at)
    data[at : at + length] = bytes(length)


def _moved(data: bytearray, at: int, value: int) -> None:
    part = bytes(data[at : at + 1 + value % 512])
    target = value * 2_654_435_761 % len(data)
    data[target : target + len(part)] = part


def _cut(data: bytearray, at: int, value: int) -> None:  # noqa: ARG001 - all kinds look alike
    del data[max(1, at) :]


KINDS: Mapping[str, Callable[[bytearray, int, int], None]] = MappingProxyType(
    {
        "flip a bit": _flipped,
        "set a byte": _byte,
        "write a number": _number,
        "write a float": _float,
        "remove": _removed,
        "repeat": _repeated,
        "zero": _zeroed,
        "move": _moved,
        "cut off": _cut,
    }
)
_WEIGHTS = (4, 4, 6, 2, 2, 2, 2, 2, 1)


def drawn(chance: random.Random) -> tuple[Mutation, ...]:
    """Some mutations. Half of them lie in the first part of the file, where headers are."""
    kinds = chance.choices(tuple(KINDS), _WEIGHTS, k=chance.randint(1, MOST_MUTATIONS))
    return tuple(
        Mutation(
            kind,
            chance.random() * (0.05 if chance.random() < 0.5 else 1.0),
            chance.getrandbits(32),
        )
        for kind in kinds
    )


def mutated(data: bytes, mutations: Sequence[Mutation]) -> bytes:
    """The file with this damage."""
    changed = bytearray(data)
    for mutation in mutations:
        if changed:
            at = min(len(changed) - 1, int(mutation.place * len(changed)))
            KINDS[mutation.kind](changed, at, mutation.value)
    return bytes(changed)


def minimised(
    mutations: Sequence[Mutation], still_fails: Callable[[Sequence[Mutation]], bool]
) -> tuple[Mutation, ...]:
    """As few of the mutations as fail in the same way, each tried without in turn."""
    kept = tuple(mutations)
    for mutation in mutations:
        without = tuple(each for each in kept if each is not mutation)
        if without and still_fails(without):
            kept = without
    return kept

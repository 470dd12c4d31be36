"""How often a name is read wrongly: one that is said rightly, one much like it, another one.

    python -m research.evaluation.names DIR --say [--piper en_US-joe-medium.onnx]
    uv run -m research.evaluation.names DIR --listen
    uv run -m research.evaluation.names DIR [--half kept] [--table docs/accuracy.md]

names.csv has 64 names of 21 languages. Each has an alike one, which differs in a vowel or a
consonant or two; how both sound in English letters (``spoken_as``); and how both are written, or
said (``/IPA/``), in their own language where ``name`` is not that. Another name is that of the row
eight further on. Of the rows the first, third and so on are the half that rules were made by
(``open``), the others the half that was read once, afterwards (``kept``).

``--say`` makes the readings: Piper with the sounds of the language, as far as English has them;
flite with English letters; espeak-ng with the sounds of the language. ``--listen`` reads them,
each name by its spelling, where that is Latin, and by ``spoken_as``. What was read is kept in DIR,
so that limits are tried without listening again; delete ``readings.jsonl`` when the code that
reads has changed. Without either, what was read is counted. Readings of which the words around the
name are not found count as unheard: espeak-ng is hard to understand. Exits 1 when another name
passes.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import re
import subprocess
import sys
import wave
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from palprep.consent import StatementReading, Whisper, read_samples
from palprep.consent.wording import beyond_latin, statement_for
from palprep.media.sound import stream_samples
from palprep.media.sources import Source
from palprep.rules import load_profile
from palprep.rules.consent import grade_statement
from palprep.speech import RATE_HZ
from research.evaluation.consent import Remembering
from research.evaluation.portraits import share_of
from research.evaluation.synthesise_consent import Samples, at_16_khz, piper_voices, run, spelled
from research.marked import replace_marked

STATEMENT = "I, {full_name}, am currently speaking and give my consent to create an AI clone of me."
FURTHER = 8
HALVES = ("open", "kept")
KINDS = ("said", "alike", "another")
SPELLINGS = ("name", "spoken_as")
VOICES = ("joe", "flite", "robot")
VOICE_OF = {"zu": "sw", "st": "sw", "yo": "sw", "ig": "sw", "fr": "fr-fr", "en": "en-us"}
"""espeak-ng has no voice for some of the languages; Swahili is written alike."""


class Name(NamedTuple):
    """A name of the table."""

    language: str
    name: str
    spoken_as: str
    native: str
    """In the letters of its language, or ``/IPA/``; empty where ``name`` is that."""

    @property
    def sounds(self) -> str:
        """In IPA, with the sounds of English."""
        found = self.native.strip("/")
        if not self.native.startswith("/"):
            voice = VOICE_OF.get(self.language, self.language)
            command = ["espeak-ng", "-q", "--ipa", "-v", voice, self.native or self.name]
            said = subprocess.run(command, capture_output=True, check=True, text=True).stdout
            found = " ".join(said.split())
        return in_english(found)

    @property
    def foreign(self) -> str:
        """For espeak-ng: in its own language, where that is written, or else in English letters."""
        if self.native.startswith("/"):
            return self.spoken_as
        voice = VOICE_OF.get(self.language, self.language)
        return f'<voice xml:lang="{voice}">{self.native or self.name}</voice>'

    def clip(self, voice: str) -> str:
        """The name of the reading's file."""
        return f"{re.sub('[^A-Za-z]+', '_', self.spoken_as)}.{voice}.wav"


def in_english(ipa: str) -> str:
    """Sounds of other languages as those of English that are next to them."""
    for row in rows_of("names_sounds.csv"):
        ipa = re.sub(row["pattern"], row["english"], ipa)
    return ipa


def rows_of(table: str) -> list[dict[str, str]]:
    """The rows of a table beside this module."""
    with Path(__file__).with_name(table).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Case(NamedTuple):
    """A name that is said, against the one that is required."""

    half: str
    kind: str
    required: Name
    said: Name


def cases() -> Iterator[Case]:
    """The table: each name against itself, the alike one and another one."""
    rows = rows_of("names.csv")
    names = [Name(*(row[key] for key in Name._fields)) for row in rows]
    for index, (row, name) in enumerate(zip(rows, names, strict=True)):
        alike = Name(name.language, *(row[f"alike{end}"] for end in ("", "_spoken_as", "_native")))
        another = names[(index + FURTHER) % len(names)]
        for kind, said in zip(KINDS, (name, alike, another), strict=True):
            yield Case(HALVES[index % len(HALVES)], kind, name, said)


def voices(piper: Path | None) -> dict[str, Callable[[Name], tuple[Samples, int]]]:
    """What says the statement with a name."""

    def flite(name: Name) -> tuple[Samples, int]:
        text = spelled(STATEMENT.format(full_name=name.spoken_as))
        return run("flite", "-voice", "slt", "-t", text, "-o")

    def robot(name: Name) -> tuple[Samples, int]:
        text = STATEMENT.format(full_name=name.foreign)
        voice = "en-us+f3" if len(name.spoken_as) % 2 else "en-gb"
        return run("espeak-ng", "-m", "-s", "150", "-v", voice, text, "-w")

    found: dict[str, Callable[[Name], tuple[Samples, int]]] = {"flite": flite, "robot": robot}
    if piper:
        joe = piper_voices(piper)["joe"]
        found["joe"] = lambda name: joe(STATEMENT.format(full_name=f"[[{name.sounds}]]"))
    return found


def say(folder: Path, piper: Path | None) -> None:
    """Make the readings that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for voice, speak in voices(piper).items():
        for name in dict.fromkeys(case.said for case in cases()):
            path = folder / name.clip(voice)
            if not path.exists():
                heard = np.clip(at_16_khz(*speak(name)), -1, 1)
                with wave.open(str(path), "wb") as file:
                    file.setnchannels(1)
                    file.setsampwidth(2)
                    file.setframerate(RATE_HZ)
                    file.writeframes((heard * 32767).astype("<i2").tobytes())


class Readings:
    """What was read of the files in a folder, kept in it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "readings.jsonl"
        lines = self._file.read_text("utf-8").splitlines() if self._file.exists() else []
        self._kept: dict[str, Any] = dict(map(json.loads, lines))

    @cached_property
    def _listener(self) -> Whisper:
        return Remembering.load()

    def of(self, case: Case, voice: str, spelling: str) -> StatementReading | None:
        """What is kept of a file against the required name in one spelling."""
        kept = self._kept.get(self._key(case, voice, spelling))
        return None if kept is None else StatementReading.model_validate(kept)

    def read(self, case: Case, voice: str, spelling: str) -> None:
        """Listen to a file, unless that is kept."""
        path = self._folder / case.said.clip(voice)
        key = self._key(case, voice, spelling)
        if key not in self._kept:
            blocks = stream_samples(Source.of(path), rate_hz=RATE_HZ, channels=1)
            samples = np.concatenate(list(blocks))
            required = statement_for(
                case.required.name,
                STATEMENT,
                language="en",
                spoken_as=getattr(case.required, spelling),
            )
            self._kept[key] = read_samples(samples, required, self._listener).to_json()
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps([key, self._kept[key]]) + "\n")

    @staticmethod
    def _key(case: Case, voice: str, spelling: str) -> str:
        return f"{case.said.clip(voice)} | {getattr(case.required, spelling)}"


def name_outcome(reading: StatementReading) -> str:
    """That of the name's first word; ``unheard`` where the words around it were not found."""
    part = next((part for part in reading.parts if part.name and part.aligned), None)
    if part is None or part.name is None:
        return "unheard"
    shown = part.expected[part.name.first]
    words = grade_statement(reading, load_profile().consent).words
    return next(word.outcome for word in words if word.expected == shown)


class Read(NamedTuple):
    """What became of a case."""

    case: Case
    voice: str
    spelling: str
    outcome: str


def tried(halves: tuple[str, ...]) -> Iterator[tuple[Case, str, str]]:
    """Every case of these halves, in every voice, by both spellings where both are Latin."""
    for case, voice, spelling in itertools.product(cases(), VOICES, SPELLINGS):
        latin = spelling == "spoken_as" or not beyond_latin(case.required.name)
        if case.half in halves and latin:
            yield case, voice, spelling


def shares(found: list[Read]) -> str:
    """Counts of pass, warn and fail; empty where nothing was read."""
    if not found:
        return ""
    counts = Counter(one.outcome for one in found)
    return " / ".join(str(counts[outcome]) for outcome in ("pass", "warn", "fail"))


def share(found: list[Read], outcome: str) -> str:
    """How many have an outcome, with the 95% interval."""
    return share_of(sum(one.outcome == outcome for one in found), len(found), 1)


def outranked(found: list[Read]) -> int:
    """How many names rank below the alike one in the same voice and spelling."""
    rank = {"fail": 0, "warn": 1, "pass": 2}

    def ranks(kind: str) -> dict[tuple[Name, str, str], int]:
        own = (one for one in found if one.case.kind == kind)
        return {(one.case.required, one.voice, one.spelling): rank[one.outcome] for one in own}

    alike = ranks("alike")
    return sum(own < alike.get(key, own) for key, own in ranks("said").items())


def table(found: list[Read]) -> list[str]:
    """Markdown: the languages, then the halves."""
    heads = [f"{kind}, by {spelling}" for kind in KINDS for spelling in SPELLINGS]

    def row(head: str, among: list[Read]) -> str:
        cells = (
            shares([one for one in among if (one.case.kind, one.spelling) == (kind, spelling)])
            for kind in KINDS
            for spelling in SPELLINGS
        )
        return f"| {head} | {' | '.join(cells)} |"

    languages = dict.fromkeys(one.case.required.language for one in found)
    lines = ["Each cell: pass / warn / fail.", "", f"| Language | {' | '.join(heads)} |"]
    lines.append("|---" * (len(heads) + 1) + "|")
    for language in languages:
        own = [one for one in found if one.case.required.language == language]
        lines.append(row(language, own))
    lines += [
        "",
        "| Half and spelling | said, failed | alike, passed | another, passed | outranked |",
    ]
    lines.append("|---" * 5 + "|")
    for half in HALVES:
        for spelling in SPELLINGS:
            own = [one for one in found if (one.case.half, one.spelling) == (half, spelling)]
            kinds = {kind: [one for one in own if one.case.kind == kind] for kind in KINDS}
            if own:
                lines.append(
                    f"| {half}, {spelling} | {share(kinds['said'], 'fail')} "
                    f"| {share(kinds['alike'], 'pass')} | {share(kinds['another'], 'pass')} "
                    f"| {outranked(own)} |"
                )
    return lines


def main() -> int:
    """Make the readings, or print what is read wrongly and the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--say", action="store_true")
    parser.add_argument("--piper", type=Path)
    parser.add_argument("--listen", action="store_true")
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--table", type=Path, help="Markdown file for the counts")
    arguments = parser.parse_args()
    if arguments.say:
        say(arguments.folder, arguments.piper)
        return 0
    readings = Readings(arguments.folder)
    everything = []
    for each in tried((arguments.half,) if arguments.half else HALVES):
        if arguments.listen:
            readings.read(*each)
        reading = readings.of(*each)
        if reading is not None:
            everything.append(Read(*each, name_outcome(reading)))
    found = [one for one in everything if one.outcome != "unheard"]
    for one in found:
        if (one.case.kind, one.outcome) in {
            ("said", "fail"),
            ("alike", "pass"),
            ("another", "pass"),
        }:
            print(
                f"{one.outcome} {one.case.kind}: {one.case.said.name} for {one.case.required.name},"
                f" {one.voice}, by {one.spelling}"
            )
    lines = [f"{len(everything) - len(found)} of {len(everything)} unheard.", "", *table(found)]
    print("\n".join(lines))
    if arguments.table:
        replace_marked(arguments.table, "names", lines)
    return any(one.case.kind == "another" and one.outcome == "pass" for one in found)


if __name__ == "__main__":
    sys.exit(main())

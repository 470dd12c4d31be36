"""palprep fix: repair files, and prove the result."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from palprep.cli.exits import ExitCode, exit_code_of, worst
from palprep.cli.options import AsJson, AsRole, Paths, ProfileName
from palprep.cli.printing import print_error, print_json, progress_bar, report_view, show
from palprep.errors import FixError, MediaError, UsageError
from palprep.rules.profile import DEFAULT_PROFILE


def fix(
    paths: Paths,
    into: Annotated[
        Path, typer.Option("--into", help="Folder for the new files.", show_default=False)
    ],
    role: AsRole = None,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Make the smallest repair in a new file, and check the new file like any other.

    Sources are never touched. Exit code 1 when a file cannot be repaired, or fails its checks
    even so.
    """
    from rich.text import Text

    from palprep.preflight import Preflight

    preflight = Preflight(profile)
    codes = []
    for path, folder in zip(paths, _folders(paths, into), strict=True):
        try:
            with progress_bar(path.name, wanted=not as_json) as advance:
                prepared = preflight.prepare(path, into=folder, role=role, progress=advance)
        except (MediaError, FixError) as error:
            codes.append(exit_code_of(error))
            if as_json:
                print_json(_failed(preflight.profile.name, path, role, error))
            else:
                print_error(error.message)
            continue
        codes.append(ExitCode.OK if prepared.report.passed else ExitCode.FAILED)
        if as_json:
            fixes = [done.to_json() for done in prepared.fixes]
            print_json(prepared.report.to_json() | {"prepared": prepared.path, "fixes": fixes})
            continue
        show(report_view(prepared.report))
        for done in prepared.fixes:
            show(Text(f"        fixed {done.id}: {done.did}"))
        if not prepared.fixes:
            show(Text("        nothing to repair; copied as it was"))
    raise typer.Exit(worst(codes))


def _folders(paths: list[Path], into: Path) -> list[Path]:
    """Where each output goes: files of the same name keep their own folder's name.

    A repair may change the extension, so that names are told apart without it.
    """
    stems = Counter(path.stem for path in paths)
    folders = [
        into / path.resolve().parent.name if stems[path.stem] > 1 else into for path in paths
    ]
    outputs = Counter(folder / path.stem for path, folder in zip(paths, folders, strict=True))
    twice = [output for output, count in outputs.items() if count > 1]
    if twice:
        raise UsageError(f"Two files would become {twice[0]}: repair them into different folders")
    return folders


def _failed(profile: str, path: Path, role: Any, error: MediaError | FixError) -> dict[str, Any]:
    from palprep.rules.report import Report, ReportError

    report = Report(
        path=str(path),
        role=role,
        profile=profile,
        error=ReportError(code=error.code, message=error.message),
    )
    return report.to_json() | {"prepared": None, "fixes": []}

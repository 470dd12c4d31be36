"""From a folder of recordings to voices, all at once: recordings_to_voices.py FOLDER"""

import asyncio
import sys
from pathlib import Path

import palprep


async def make_voice(path: Path, client: palprep.AsyncClient) -> None:
    try:
        recording = await asyncio.to_thread(palprep.prepare, path, into="ready", role="voice-audio")
        if not recording.passed:
            return print(path.name, *recording.report.reasons)
        request = palprep.VoiceRequest(voice_name=path.stem)
        with palprep.publisher_from_env() as publisher:
            voice = await palprep.make_voice(client, publisher, recording, request, journal="ready")
        print(path.name, voice.state, voice.id)
    except palprep.PalprepError as error:
        print(path.name, error)


async def make_voices(paths: list[Path]) -> None:
    async with palprep.AsyncClient.from_env() as client:
        await asyncio.gather(*(make_voice(path, client) for path in paths))


asyncio.run(make_voices(sorted(Path(sys.argv[1]).iterdir())))

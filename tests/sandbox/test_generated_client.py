"""A client that openapi-python-client generates from the sandbox's document calls everything.

The generator wants another typer than palprep, so that it lives in an environment of its own:
`uv tool install openapi-python-client`. `.ci/run` brings one along. Without the program the test is
skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from raw import JPEG, WAV, Raw

from palprep.api.calls import ENDPOINTS
from palprep.sandbox import Sandbox

PROGRAM = shutil.which(os.environ.get("OPENAPI_PYTHON_CLIENT", "openapi-python-client"))


@pytest.fixture
def generated(tmp_path: Path):
    """The folder that holds the package ``theirs``, and the interpreter that can run it."""
    if PROGRAM is None:
        pytest.skip("openapi-python-client is not installed: uv tool install it")
    (tmp_path / "config.yml").write_text("post_hooks: []\n")
    with Sandbox(clock="virtual") as sandbox, Raw(sandbox) as raw:
        (tmp_path / "openapi.json").write_text(raw.send("GET", "/openapi.json").text)
    made = subprocess.run(
        [PROGRAM, "generate", "--path", "openapi.json", "--output-path", "theirs",
         "--meta", "none", "--config", "config.yml"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    assert "warning" not in (made.stdout + made.stderr).lower(), made.stdout + made.stderr
    return tmp_path, Path(PROGRAM).resolve().with_name("python")


def test_every_operation_is_called_and_every_answer_read(generated) -> None:
    folder, python = generated
    with Sandbox(clock="virtual") as sandbox:
        sandbox.seed({
            "pals": [{"pal_id": "p"}],
            "videos": [{"video_id": "v"}],
            "documents": [{"document_id": "d"}],
            "pronunciation_dictionaries": [{"pronunciation_dictionary_id": "pd"}],
            "deployments": [{"deployment_id": "dep"}],
            "connectors": [{"connector_id": "c", "url": "http://127.0.0.1:1/mcp"}],
        })  # fmt: skip
        (folder / "image.jpg").write_bytes(JPEG)
        url = sandbox.put_asset("ada.wav", WAV)
        done = subprocess.run(
            [python, "-c", CALLS, sandbox.url, sandbox.user_key, url],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        called = {request["endpoint"] for request in sandbox.log()["requests"]}
    assert called == {endpoint.name for endpoint in ENDPOINTS}


CALLS = """
import base64, sys
from pathlib import Path
from urllib.request import Request, urlopen
from theirs import AuthenticatedClient
from theirs.api.connectors import connectors_runtime_check
from theirs.api.conversations import conversations_create
from theirs.api.deployments import deployments_delete, deployments_get, deployments_patch
from theirs.api.documents import documents_get
from theirs.api.faces import faces_validate_image
from theirs.api.pals import pals_delete, pals_replace_skills
from theirs.api.pronunciation_dictionaries import pronunciation_dictionaries_get
from theirs.api.replicas import replicas_create, replicas_get, replicas_validate_image
from theirs.api.tools import tools_create, tools_delete, tools_get, tools_list
from theirs.api.videos import videos_rename
from theirs.api.voices import voices_create, voices_get, voices_list, voices_update
from theirs import models as m

url, key, media = sys.argv[1:]
client = AuthenticatedClient(base_url=url, token=key, prefix="", auth_header_name="x-api-key")
image = base64.b64encode(Path("image.jpg").read_bytes()).decode()

def read(operation, kind, *args, **kwargs):
    reply = operation.sync_detailed(*args, client=client, **kwargs)
    assert 200 <= reply.status_code < 300, (operation.__name__, reply.status_code, reply.content)
    assert kind is None or isinstance(reply.parsed, kind), (operation.__name__, reply.parsed)
    return reply.parsed

voice = read(voices_create, m.Voice, body=m.CreateVoice(voice_name="Ada", training_audio_url=media))
assert read(voices_get, m.Voice, voice.voice_id).status == "started"
read(voices_update, m.Voice, voice.voice_id, body=m.UpdateVoice(voice_name="Ada L."))
assert read(voices_list, m.Voices).data[0].voice_name == "Ada L."
replica = read(replicas_create, m.Replica, body=m.CreateReplica(train_video_url=media))
assert read(replicas_get, m.Replica, replica.replica_id).status == "started"
hour = Request(url + "/_sandbox/clock", b'{"advance": 3600}')
assert urlopen(hour).status == 200
assert read(replicas_get, m.Replica, replica.replica_id).status == "completed"
assert read(voices_get, m.Voice, voice.voice_id).status == "completed"
for operation, body in (
    (faces_validate_image, m.ValidateFaceImage), (replicas_validate_image, m.ValidateReplicaImage)
):
    assert read(operation, m.FaceValidation, body=body(image_base_64=image)).passed is True
tool = read(tools_create, m.Tool, body=m.CreateTool(
    name="look_up", description="d", parameters=m.CreateToolParameters.from_dict({"type": "object"})
))
read(tools_get, m.Tool, tool.tool_id)
assert len(read(tools_list, m.Tools).data) == 2
read(tools_delete, None, tool.tool_id)
skills = m.ReplaceSkillsSkills.from_dict({"internet_search": {}})
read(pals_replace_skills, m.PalSkills, "p", body=m.ReplaceSkills(skills=skills))
read(conversations_create, None, body=m.CreateConversation(pal_id="p"))
read(pals_delete, None, "p")
read(deployments_get, m.Deployment, "dep")
rename = m.PatchOperation(op=m.PatchOperationOp.REPLACE, path="/name", value="new")
assert read(deployments_patch, m.Deployment, "dep", body=[rename]).name == "new"
read(deployments_delete, None, "dep")
read(videos_rename, None, "v", body=m.RenameVideo(video_name="new"))
read(documents_get, m.Document, "d")
read(pronunciation_dictionaries_get, m.PronunciationDictionary, "pd")
assert read(connectors_runtime_check, m.ConnectorCheck, "c").ok is False
refused = voices_get.sync_detailed("unknown", client=client)
assert refused.status_code == 404 and isinstance(refused.parsed, m.Error), refused
refused = documents_get.sync_detailed("unknown", client=client)
assert isinstance(refused.parsed, m.Message), refused
refused = faces_validate_image.sync_detailed(body=m.ValidateFaceImage("%"), client=client)
assert isinstance(refused.parsed, m.ImageError), refused
"""

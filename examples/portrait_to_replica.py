"""From an image to a replica, told by a callback: portrait_to_replica.py IMAGE NAME"""

import sys

import palprep

image, name = sys.argv[1:]
portrait = palprep.prepare(image, into="ready", role="face-image")
if not portrait.report.passed:
    sys.exit(str(portrait))
request = palprep.ReplicaRequest(replica_name=name, voice_name="gloria")
with (
    palprep.Client.from_env() as client,
    palprep.publisher_from_env() as publisher,
    palprep.Journal.of("ready", create=True) as journal,
    palprep.callback_server(journal) as callbacks,
):
    replica = palprep.make_replica(
        client, publisher, request, image=portrait, journal=journal, callbacks=callbacks
    )
print(name, replica.state, replica.id)

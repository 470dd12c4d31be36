"""From an image to a replica, with callbacks: portrait_to_replica.py IMAGE NAME"""

import sys

import palprep

image, name = sys.argv[1:]
portrait = palprep.prepare(image, into="ready", role="face-image")
if not portrait.passed:
    sys.exit(str(portrait))
request = palprep.ReplicaRequest(replica_name=name, voice_name="gloria")
with palprep.Client.from_env() as client, palprep.publisher_from_env() as publisher:
    replica = palprep.make_replica(
        client, publisher, request, image=portrait, journal="ready", callbacks=True
    )
print(name, replica.state, replica.replica_id)

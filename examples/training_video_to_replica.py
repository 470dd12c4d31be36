"""From a training video and a consent video to a replica:
training_video_to_replica.py TRAINING CONSENT FULL_NAME"""

import sys

import palprep

training, consent, full_name = sys.argv[1:]
video = palprep.prepare(training, into="ready", role="training-video", consent_apart=True)
given = palprep.prepare(consent, into="ready", role="consent-video", speaker=full_name)
if not (video.passed and given.passed):
    sys.exit(f"{video}\n{given}")
request = palprep.ReplicaRequest(replica_name=full_name)
with palprep.Client.from_env() as client, palprep.publisher_from_env() as publisher:
    replica = palprep.make_replica(
        client, publisher, request, video=video, consent=given, journal="ready", callbacks=True
    )
print(full_name, replica.state, replica.replica_id)

"""The way from prepared files to a validated face, a voice and a replica.

requests      what may be asked for
consent       the gate: whether a replica may be made of a video
make          validate_face, make_voice, make_replica
creation      the steps that a voice and a replica share
"""

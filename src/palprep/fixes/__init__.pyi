from .carry_out import apply as apply
from .image import keep_picked as keep_picked
from .output import (
    Applied as Applied,
    FixDone as FixDone,
    move_into as move_into,
    new_output as new_output,
    remove_parts as remove_parts,
    unproved_in as unproved_in,
)
from .recording import keep_recording as keep_recording, second_name as second_name
from .voice import mp3_excerpt as mp3_excerpt

"""Small files that ask for much, and long ones that say little: each made by code.

What they have in common with files that were met, or that a decoder's source invites: a header
that claims, a list without an end, pixels that cost nothing to write down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from research.hostile import bomb_boxes, bomb_images, bomb_recordings, bomb_work

MANY = 200_000
"""Entries of a list that honest files keep short."""

LISTS: Mapping[str, Callable[[Path, int], None]] = MappingProxyType(
    {
        "texts.png": bomb_images.png_texts,
        "chunks.webp": bomb_images.webp_chunks,
        "tags.wav": bomb_recordings.wav_tags,
        "cues.wav": bomb_recordings.wav_cues,
        "tags.aiff": bomb_recordings.aiff_tags,
        "strings.caf": bomb_recordings.caf_strings,
        "id3.mp3": bomb_recordings.mp3_id3,
        "comments.flac": bomb_recordings.flac_comments,
        "behind-id3.flac": bomb_recordings.flac_behind_id3,
        "comments.ogg": bomb_recordings.opus_comments,
        "flac.ogg": bomb_recordings.ogg_flac_comments,
        "tags.avi": bomb_recordings.avi_tags,
        "items.m4a": bomb_boxes.mp4_items,
        "keys.mp4": bomb_boxes.mp4_keys,
        "user-data.m4a": bomb_boxes.mp4_user_data,
        "tags.mkv": bomb_boxes.mkv_tags,
        "chapters.mkv": bomb_boxes.mkv_chapters,
        "attachments.mkv": bomb_boxes.mkv_attachments,
        "cues.mkv": bomb_boxes.mkv_cues,
        "edits-of-tracks.mp4": bomb_work.edits_of_tracks,
        "empty-id3.mp3": bomb_work.empty_id3,
        "padded-id3.mp3": bomb_work.id3_padding,
        "empty-boxes.mp4": bomb_work.empty_boxes,
        "deep-boxes.mp4": bomb_work.deep_boxes,
        "sample-times.m4a": bomb_work.sample_times,
        "ten-seeks.mkv": bomb_work.ten_seeks,
        "many-seeks.mkv": bomb_work.many_seeks,
        "empty-clusters.mkv": bomb_work.empty_clusters,
        "clusters-alone.mkv": bomb_work.clusters_alone,
        "speex-again.ogg": bomb_work.speex_again,
        "opus-tags-again.ogg": bomb_work.opus_tags_again,
        "comment-pages.ogg": bomb_work.comment_pages,
        "lists.wav": bomb_work.wav_lists,
        "chunks.png": bomb_work.png_chunks,
        "pieces.png": bomb_work.png_pieces,
        "segments.jpg": bomb_work.jpeg_segments,
    }
)
"""By the name of the file; each is given how long its list is."""


def _long(make: Callable[[Path, int], None]) -> Callable[[Path], None]:
    return lambda path: make(path, MANY)


BOMBS: Mapping[str, Callable[[Path], None]] = MappingProxyType(
    {
        "scans.jpg": bomb_images.jpeg_scans,
        "padding.jpg": bomb_images.jpeg_padding,
        "exif.jpg": bomb_images.jpeg_exif,
        "200-megapixels.jpg": bomb_images.jpeg_200_megapixels,
        "200-progressive.jpg": bomb_images.jpeg_200_progressive,
        "tall.png": bomb_images.png_tall,
        "squeezed-text.png": bomb_images.png_squeezed_text,
        "squeezed-profile.png": bomb_images.png_squeezed_profile,
        "frames.png": bomb_images.png_frames,
        "large.webp": bomb_images.webp_large,
        "frames.webp": bomb_images.webp_frames,
        "chunks.wav": bomb_recordings.wav_chunks,
        "packets.caf": bomb_recordings.caf_packets,
        "two-gigabytes.wav": bomb_recordings.wav_2_gb,
        "ten-hours.mp3": bomb_recordings.mp3_10_hours,
        "streams.avi": bomb_recordings.avi_streams,
        "items.heic": bomb_boxes.heic_items,
        "tracks.m4a": bomb_boxes.mp4_tracks,
        "samples.mp4": bomb_boxes.mp4_samples,
        "edits.mp4": bomb_boxes.mp4_edits,
        "tracks.mkv": bomb_boxes.mkv_tracks,
        "without-sizes.heic": bomb_work.heic_without_sizes,
        **{name: _long(make) for name, make in LISTS.items()},
    }
)
"""All of them, with lists of :data:`MANY` entries."""

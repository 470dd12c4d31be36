"""HDR pictures become SDR with faces as bright as they were."""

from __future__ import annotations

import av
import pytest
from videos import video_plan

from palprep.fixes.carry_out import apply
from palprep.media.sources import Source


def pq_nits(signal: float) -> float:
    """Luminance of a PQ signal, 0 to 1, in cd/m2 (SMPTE ST 2084)."""
    m1, m2 = 2610 / 16384, 2523 / 4096 * 128
    c1, c2, c3 = 3424 / 4096, 2413 / 4096 * 32, 2392 / 4096 * 32
    power = signal ** (1 / m2)
    return 10_000 * (max(power - c1, 0) / (c2 - c3 * power)) ** (1 / m1)


def hlg_nits(signal: float) -> float:
    """Luminance of a dark HLG signal, up to 0.5, on a display of 1000 cd/m2 (BT.2100)."""
    return 1000 * (signal**2 / 3) ** 1.2


@pytest.mark.parametrize("tags", ["all", "transfer alone"])
@pytest.mark.parametrize(("transfer", "nits"), [("smpte2084", pq_nits), ("arib-std-b67", hlg_nits)])
def test_hdr_becomes_sdr_with_faces_as_bright_as_they_were(make, tmp_path, tags, transfer, nits):
    coded = (440 - 64) / 876  # of 10-bit video range; 35 to 45 cd/m2, as skin beside white
    others = "color_primaries=bt2020:colorspace=bt2020nc:" if tags == "all" else ""
    made = make(
        "hdr.mp4",
        *("-f", "lavfi", "-i", "color=0x6e6e6e:size=320x180:rate=25:duration=1"),
        *("-vf", f"format=yuv420p10le,setparams={others}color_trc={transfer}"),
        *("-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none"),
    )
    applied = apply(video_plan(copy=False), Source.of(made), tmp_path / "ada")
    with av.open(applied.path) as container:
        frame = next(container.decode(video=0))
        context = container.streams.video[0].codec_context
        assert (context.pix_fmt, context.color_trc, context.color_primaries) == ("yuv420p", 1, 1)
        shown = (frame.to_ndarray()[0, :320].mean() - 16) / 219  # luma, of video range
    light = nits(coded) / 203
    assert shown == pytest.approx(light ** (1 / 2.4), abs=0.01)  # as BT.1886 displays show it
    assert "tone_map" in [each.id for each in applied.fixes]


def test_rgb_becomes_what_players_take_high_definition_for(make, tmp_path):
    made = make(
        "rgb.mov",
        *("-f", "lavfi", "-i", "color=0x20a040:size=1280x720:rate=25:duration=0.2,format=rgb24"),
        *("-c:v", "png"),
    )
    applied = apply(video_plan(copy=False), Source.of(made), tmp_path / "ada")
    with av.open(applied.path) as container:
        frame = next(container.decode(video=0))
    assert frame.colorspace == 1  # BT.709, and said so
    assert frame.to_ndarray(format="rgb24")[360, 640] == pytest.approx((0x20, 0xA0, 0x40), abs=4)

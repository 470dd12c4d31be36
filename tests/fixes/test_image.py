"""Images: every step of a plan, in pixels and in words."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pillow_heif
import pytest
from PIL import Image, ImageCms, ImageDraw

from palprep.errors import CannotFit, DamagedMedia, FixError, MediaError, UsageError
from palprep.fixes.carry_out import apply
from palprep.fixes.image import adjust, base64_chars, require_within
from palprep.media.images import LINEAR, open_image
from palprep.media.sources import Source
from palprep.rules.plans import Crop, ImagePlan

LIMIT = 29_360_128
QUARTERS = [[(200, 40, 40), (40, 180, 60)], [(50, 60, 200), (220, 210, 60)]]


def still_plan(**steps) -> ImagePlan:
    return ImagePlan(**{"reasons": (), "max_base64_chars": LIMIT, **steps})


def quarters(width: int = 320, height: int = 240) -> Image.Image:
    pixels = np.array(QUARTERS, dtype=np.uint8)
    return Image.fromarray(pixels.repeat(height // 2, axis=0).repeat(width // 2, axis=1))


def corner_colours(picture: Image.Image) -> np.ndarray:
    """The middles of the four quarters; shape (2, 2, 3)."""
    width, height = picture.size
    points = [[(width * x // 4, height * y // 4) for x in (1, 3)] for y in (1, 3)]
    return np.array([[picture.getpixel(point) for point in row] for row in points])


def prepared(path: str) -> Image.Image:
    """Opened by Pillow alone; asserts that nothing but pixels is inside."""
    data = Path(path).read_bytes()
    picture = Image.open(io.BytesIO(data))
    picture.load()
    assert picture.mode == "RGB"
    assert not picture.getexif()
    coding = {"progressive", "progression", "adobe", "adobe_transform", "dpi", "jfif"}
    assert set(picture.info) <= coding | {"jfif_version", "jfif_unit", "jfif_density"}
    if picture.format == "JPEG":
        assert {marker for marker, _ in picture.applist} <= {"APP0", "APP14"}  # of the colours
        assert data.endswith(b"\xff\xd9")  # and no second picture behind the first
    for trace in (b"Exif", b"http://ns.adobe.com", b"ICC_PROFILE", b"Photoshop", b"iCCP", b"eXIf"):
        assert trace not in data
    return picture


def tagged_exif(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x0110] = "Secretphone 12"
    exif.get_ifd(0x8825).update({1: "N", 2: (51.0, 30.0, 2.5)})
    return exif


@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_exif_orientation_comes_out_upright(tmp_path, orientation):
    turns = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }  # how a camera held that way stores the scene
    upright = quarters()
    stored = upright.transpose(turns[orientation]) if orientation > 1 else upright
    source = tmp_path / "ada.jpg"
    stored.save(source, quality=95, exif=tagged_exif(orientation), comment=b"Secret place")
    applied = apply(still_plan(), Source.of(source), tmp_path / "out" / "ada")
    picture = prepared(applied.path)
    assert picture.size == (320, 240)
    assert corner_colours(picture) == pytest.approx(np.array(QUARTERS), abs=4)
    assert b"Secret" not in Path(applied.path).read_bytes()
    said = {each.id: each.did for each in applied.fixes}
    assert said["strip_metadata"] == "removed metadata: comment, exif, gps"
    assert said.get("orient") == (
        f"turned upright (EXIF orientation {orientation})" if orientation > 1 else None
    )
    chars = base64_chars(Path(applied.path).stat().st_size)
    last = f"re-encoded as JPEG quality 95: {chars:,} base64 characters"
    assert applied.fixes[-1].did == (
        last if orientation > 1 else "kept the image as it was encoded"
    )


@pytest.mark.parametrize(
    "coded",
    # The last one says in Adobe's segment that it is RGB.
    [{}, {"progressive": True, "subsampling": 0}, {"restart_marker_rows": 1}, {"keep_rgb": True}],
)
def test_a_jpeg_with_metadata_alone_keeps_its_pixels(tmp_path, coded):
    source = tmp_path / "ada.jpg"
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    tagged = {"exif": tagged_exif(1), "comment": b"Secret", "icc_profile": srgb}
    quarters().save(source, **tagged, **coded)
    second = io.BytesIO()
    quarters(64, 64).save(second, "JPEG", exif=tagged_exif(1))  # as phones add a gain map
    source.write_bytes(source.read_bytes() + second.getvalue())
    applied = apply(still_plan(), Source.of(source), tmp_path / "out")
    assert applied.coding_kept
    assert prepared(applied.path).tobytes() == Image.open(source).convert("RGB").tobytes()
    assert b"Secret" not in Path(applied.path).read_bytes()
    assert applied.fixes[0].did == "removed metadata: comment, exif, gps, icc"
    assert applied.fixes[1].did == "kept the image as it was encoded"


def test_a_jpeg_that_must_change_is_encoded_anew(tmp_path):
    source = tmp_path / "ada.jpg"
    quarters().save(source, quality=95)
    for step in (
        *({"exposure_ev": 0.25}, {"white_balance": (1.05, 1.0, 1.0)}, {"max_side_px": 200}),
        *({"crop": Crop(left=0, top=0, width=100, height=90)}, {"max_base64_chars": 3000}),
    ):
        assert not apply(still_plan(**step), Source.of(source), tmp_path / "out").coding_kept


def test_a_heic_turned_by_its_own_box_comes_out_upright(tmp_path):
    source = tmp_path / "ada.heic"
    heif = pillow_heif.from_pillow(quarters())
    heif.save(source, quality=95, exif=tagged_exif(6).tobytes())
    shown = pillow_heif.open_heif(source).to_pillow()
    applied = apply(still_plan(), Source.of(source), tmp_path / "ada")
    picture = prepared(applied.path)
    assert picture.format == "JPEG"
    assert picture.size == shown.size
    assert corner_colours(picture) == pytest.approx(corner_colours(shown), abs=6)
    assert applied.fixes[-1].did.startswith("HEIC to JPEG quality 95: ")


def display_p3() -> bytes:
    """A matrix profile with P3's primaries: sRGB's with the colourants replaced."""
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    # Colourants of Display P3 adapted to D50, as s15Fixed16 (Apple's published profile).
    wanted = {
        b"rXYZ": (0.51512, 0.24120, -0.00105),
        b"gXYZ": (0.29198, 0.69225, 0.04189),
        b"bXYZ": (0.15710, 0.06657, 0.78407),
    }
    for at in range(132, 132 + 12 * int.from_bytes(profile[128:132]), 12):
        tag = bytes(profile[at : at + 4])
        if tag in wanted:
            offset = int.from_bytes(profile[at + 4 : at + 8]) + 8
            values = b"".join(
                round(value * 65536).to_bytes(4, signed=True) for value in wanted[tag]
            )
            profile[offset : offset + 12] = values
    return bytes(profile)


def test_wide_gamut_colours_are_converted_and_the_profile_dropped(tmp_path):
    source = tmp_path / "p3.jpg"
    Image.new("RGB", (64, 64), (200, 100, 100)).save(
        source, quality=98, subsampling=0, icc_profile=display_p3()
    )
    applied = apply(still_plan(), Source.of(source), tmp_path / "ada")
    red, green, blue = prepared(applied.path).getpixel((32, 32))
    # Display P3 (200, 100, 100) in sRGB, by the two standards' matrices: (215, 94, 97).
    assert (red, green, blue) == pytest.approx((215, 94, 97), abs=4)
    said = {each.id: each.did for each in applied.fixes}
    assert re.fullmatch(r"converted colours from .+ to sRGB", said["to_srgb"])


@pytest.mark.parametrize(
    ("mode", "suffix", "colour", "expected"),
    [
        ("RGBA", ".png", (0, 0, 255, 128), (127, 127, 255)),
        ("LA", ".png", (0, 51), (204, 204, 204)),
        ("CMYK", ".jpg", (0, 255, 255, 0), (255, 0, 0)),
        ("L", ".png", 77, (77, 77, 77)),
        ("1", ".png", 1, (255, 255, 255)),
        ("I;16", ".png", 128 * 257, (128, 128, 128)),
        ("P", ".png", None, (10, 200, 90)),
        ("RGBA", ".webp", (255, 0, 0, 0), (255, 255, 255)),
    ],
)
def test_every_mode_becomes_rgb_on_white(tmp_path, mode, suffix, colour, expected):
    if mode == "P":
        stored = Image.new("P", (64, 64), 5)
        stored.putpalette([0] * 15 + [10, 200, 90] + [0] * 750)
    else:
        stored = Image.new(mode, (64, 64), colour)
    source = tmp_path / f"odd{suffix}"
    stored.save(source, **({"quality": 98, "subsampling": 0} if suffix == ".jpg" else {}))
    applied = apply(still_plan(png=True), Source.of(source), tmp_path / "ada")
    assert prepared(applied.path).getpixel((32, 32)) == pytest.approx(expected, abs=3)
    ids = [each.id for each in applied.fixes]
    assert ("flatten" in ids) is (mode in {"RGBA", "LA"})


def test_a_transparent_palette_entry_becomes_white(tmp_path):
    stored = Image.new("P", (64, 64), 5)
    stored.putpalette([0] * 15 + [10, 200, 90] + [0] * 750)
    source = tmp_path / "odd.png"
    stored.save(source, transparency=5)
    applied = apply(still_plan(), Source.of(source), tmp_path / "ada")
    assert prepared(applied.path).getpixel((32, 32)) == (255, 255, 255)


def test_the_limit_holds_to_the_character_on_a_real_file(tmp_path):
    source = tmp_path / "noise.png"
    pixels = np.random.default_rng(3).integers(0, 256, (400, 500, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(source)
    roomy = Path(apply(still_plan(), Source.of(source), tmp_path / "roomy").path)
    exact = base64_chars(roomy.stat().st_size)
    at = Path(apply(still_plan(max_base64_chars=exact), Source.of(source), tmp_path / "at").path)
    assert at.read_bytes() == roomy.read_bytes()
    below = apply(still_plan(max_base64_chars=exact - 1), Source.of(source), tmp_path / "below")
    assert base64_chars(Path(below.path).stat().st_size) <= exact - 1
    assert prepared(below.path).size == (500, 400)
    assert "quality 94" in below.fixes[-2].did
    assert below.fixes[-1].did == f"fitted under {exact - 1:,} base64 characters"


def test_a_picture_is_scaled_down_to_the_side_that_the_purpose_takes_but_never_up(tmp_path):
    source = tmp_path / "ada.png"
    quarters(800, 600).save(source)
    smaller = apply(still_plan(max_side_px=400), Source.of(source), tmp_path / "smaller")
    assert prepared(smaller.path).size == (400, 300)
    assert "scaled down from 800x600 to 400x300 px" in [each.did for each in smaller.fixes]
    kept = apply(still_plan(max_side_px=4000), Source.of(source), tmp_path / "kept")
    assert prepared(kept.path).size == (800, 600)
    large = tmp_path / "large.jpg"
    quarters(3200, 2400).save(large, exif=tagged_exif(3))
    half = apply(still_plan(max_memory_mb=20), Source.of(large), tmp_path / "half")
    assert "scaled down from 3200x2400 to 1600x1200 px" in [each.did for each in half.fixes]


def test_level_crop_exposure_and_balance_are_done_and_said(tmp_path):
    source = tmp_path / "ada.png"
    quarters(800, 600).save(source)
    plan = still_plan(
        level_deg=-2.5,
        crop=Crop(left=100, top=80, width=600, height=440),
        exposure_ev=0.25,
        white_balance=(1.05, 1.0, 0.95),
    )
    applied = apply(plan, Source.of(source), tmp_path / "out")
    assert prepared(applied.path).size == (600, 440)
    assert [each.did for each in applied.fixes][:4] == [
        "levelled by 2.5° clockwise",
        "cropped to 600x440 px at (100, 80)",
        "brightened by 0.25 stops",
        "white balance: R x1.05, G x1.00, B x0.95",
    ]


def test_what_cannot_be_done_leaves_nothing_behind(tmp_path):
    folder = tmp_path / "out"
    source = tmp_path / "ada.png"
    quarters().save(source)
    with pytest.raises(FixError, match="reaches outside"):
        apply(still_plan(level_deg=3), Source.of(source), folder / "ada")
    with pytest.raises(CannotFit):
        apply(still_plan(max_base64_chars=100), Source.of(source), folder / "ada")
    source.write_bytes(source.read_bytes()[:200])
    with pytest.raises(DamagedMedia):
        apply(still_plan(), Source.of(source), folder / "ada")
    assert not folder.exists()


def test_the_source_is_untouched_and_never_the_target(tmp_path):
    source = tmp_path / "ada.jpg"
    quarters().save(source, exif=tagged_exif(3))
    before = source.read_bytes()
    with pytest.raises(UsageError, match="is the source itself"):
        apply(still_plan(), Source.of(source), tmp_path / "ada")
    apply(still_plan(), Source.of(source), tmp_path / "out")
    assert source.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["ada.jpg", "out.jpg"]


@pytest.mark.corpus
def test_odd_pictures_come_out_clean_or_are_refused(corpora, tmp_path):
    """Every eighth picture of the corpus: orientations, colour modes, broken files."""
    made = 0
    files = sorted(path for path in (corpora / "images_odd").rglob("*") if path.is_file())
    for source in files[::8]:
        try:
            applied = apply(still_plan(), Source.of(source), tmp_path / str(made))
        except MediaError:
            continue
        facts = open_image(Source.of(source))[0]
        assert prepared(applied.path).size == (facts.width, facts.height)
        made += 1
    assert made > 30


def plan(**steps) -> ImagePlan:
    return ImagePlan(reasons=(), max_base64_chars=1_000, **steps)


def scene() -> Image.Image:
    """Grey with a red disc right of the centre and a blue one above it."""
    picture = Image.new("RGB", (400, 300), (90, 90, 90))
    draw = ImageDraw.Draw(picture)
    draw.ellipse((240, 140, 260, 160), fill=(255, 0, 0))
    draw.ellipse((190, 90, 210, 110), fill=(0, 0, 255))
    return picture


def centre_of(picture: Image.Image, channel: int) -> tuple[float, float]:
    pixels = np.asarray(picture).astype(float)
    others = [each for each in range(3) if each != channel]
    rows, columns = np.nonzero(pixels[..., channel] - pixels[..., others].max(axis=-1) > 100)
    return columns.mean(), rows.mean()


def test_no_steps_change_nothing():
    assert np.array_equal(np.asarray(adjust(scene(), plan())), np.asarray(scene()))


def test_a_crop_takes_exactly_its_pixels():
    crop = Crop(left=30, top=50, width=100, height=80)
    cropped = adjust(scene(), plan(crop=crop))
    assert np.array_equal(np.asarray(cropped), np.asarray(scene())[50:130, 30:130])


@pytest.mark.parametrize("degrees", [30.0, 10.0, -7.5])
def test_levelling_turns_counter_clockwise_about_the_crops_centre(degrees):
    crop = Crop(left=110, top=60, width=180, height=180)  # centred on (200, 150)
    if degrees == 30.0:
        crop = Crop(left=95, top=45, width=210, height=210)
    turned = adjust(scene(), plan(crop=crop, level_deg=degrees))
    assert turned.size == (crop.width, crop.height)
    radians = np.radians(degrees)
    centre = crop.width / 2 - 0.5  # of pixel centres
    expected_red = (centre + 50.5 * np.cos(radians), centre - 50.5 * np.sin(radians))
    assert centre_of(turned, 0) == pytest.approx(expected_red, abs=0.75)
    expected_blue = (centre - 49.5 * np.sin(radians), centre - 49.5 * np.cos(radians))
    assert centre_of(turned, 2) == pytest.approx(expected_blue, abs=0.75)


def test_a_level_picture_turned_there_and_back_is_nearly_itself():
    rows, columns = np.mgrid[0:300, 0:400]
    wave = (127 + 60 * np.sin(columns / 12) + 50 * np.cos(rows / 9)).astype(np.uint8)
    picture = Image.merge("RGB", [Image.fromarray(wave)] * 3)
    there = adjust(picture, plan(level_deg=5, crop=Crop(left=50, top=40, width=300, height=220)))
    back = adjust(there, plan(level_deg=-5, crop=Crop(left=50, top=40, width=200, height=140)))
    original = np.asarray(picture)[80:220, 100:300].astype(int)
    assert np.abs(np.asarray(back).astype(int) - original).max() <= 3


def test_nothing_is_painted_a_turned_crop_shows_only_picture():
    white = Image.new("RGB", (400, 300), "white")
    crop = Crop(left=80, top=60, width=240, height=180)
    assert np.asarray(adjust(white, plan(level_deg=12, crop=crop))).min() == 255


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ({"level_deg": 1.0}, r"400x300 px at \(0, 0\) turned by 1° reaches outside"),
        ({"crop": Crop(left=301, top=0, width=100, height=100)}, "reaches outside"),
        ({"crop": Crop(left=0, top=-1, width=100, height=100)}, "reaches outside"),
        (
            {"crop": Crop(left=0, top=0, width=390, height=290), "level_deg": 3.0},
            "turned by 3° reaches outside",
        ),
    ],
)
def test_a_crop_outside_the_picture_is_an_error(steps, words):
    with pytest.raises(FixError, match=words):
        require_within(scene().size, plan(**steps))


def test_the_whole_picture_is_a_crop_within_it():
    assert adjust(scene(), plan(crop=Crop(left=0, top=0, width=400, height=300))).size == (400, 300)


def test_one_stop_doubles_the_light_near_black_and_leaves_white_white():
    greys = Image.fromarray(np.array([[[level] * 3 for level in (40, 255, 240)]], np.uint8))
    for ev in (1.0, -1.0):
        dark, white, shirt = np.asarray(adjust(greys, plan(exposure_ev=ev)))[0, :, 0].tolist()
        assert LINEAR[dark] / LINEAR[40] == pytest.approx(2.0**ev, rel=0.05)
        assert 225 < shirt < white == 255


def test_white_balance_brings_a_cast_to_grey_turned_or_not():
    cast = Image.new("RGB", (100, 100), (150, 120, 90))
    red, green, blue = (LINEAR[each] for each in (150, 120, 90))
    gains = (float(green / red), 1.0, float(green / blue))
    flat = np.asarray(adjust(cast, plan(white_balance=gains)))
    assert np.ptp(flat.reshape(-1, 3), axis=1).max() <= 1
    crop = Crop(left=20, top=20, width=60, height=60)
    turned = np.asarray(adjust(cast, plan(white_balance=gains, level_deg=5, crop=crop)))
    assert np.ptp(turned.reshape(-1, 3), axis=1).max() <= 1
    assert abs(int(turned[30, 30, 0]) - int(flat[30, 30, 0])) <= 1

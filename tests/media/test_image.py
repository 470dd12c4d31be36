from __future__ import annotations

import base64
import io
import struct
import threading
import warnings
import zlib

import numpy as np
import pillow_heif
import pytest
from bombs import WEBP_120_MEGAPIXELS
from PIL import Image, ImageCms, ImageFile, PngImagePlugin

from palprep.errors import DamagedMedia, FileMissing, UnsupportedMedia
from palprep.media.images import stills as image_module
from palprep.media.images.stills import open_image, probe_image
from palprep.media.sources.source import Source

from .conftest import gradient

BLUE_CORNER = {
    1: (0, 0),
    2: (0, 1),
    3: (1, 1),
    4: (1, 0),
    5: (0, 0),
    6: (0, 1),
    7: (1, 1),
    8: (1, 0),
}
"""Where the stored top left corner is shown, as (bottom?, right?), by EXIF orientation."""


def probed(source: Source):
    """Facts and pixels (height, width, 3)."""
    facts, picture = open_image(source)
    return facts, np.asarray(picture)


def pixels_of(source: Source, *, max_side: int | None = None) -> np.ndarray:
    return np.asarray(open_image(source, max_side=max_side)[1])


def exif_of(orientation: int, *, gps: bool = False) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    if gps:
        exif.get_ifd(0x8825)[1] = "N"
        exif[0x8825] = {1: "N", 2: (48.0, 51.0, 24.0)}
    return exif.tobytes()


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_upright_by_exif(tmp_path, picture, form, orientation):
    path = tmp_path / "a"
    picture.save(path, form, exif=exif_of(orientation), quality=95)
    facts, pixels = probed(Source.of(path))
    assert facts.orientation == orientation
    shown = (48, 64) if orientation >= 5 else (64, 48)
    assert (facts.width, facts.height) == shown
    assert pixels.shape == (shown[1], shown[0], 3)
    bottom, right = BLUE_CORNER[orientation]
    corner = pixels[-4 if bottom else 3, -4 if right else 3]
    assert corner[2] > 200
    assert corner[0] < 60


def test_heif_turned_by_irot_is_upright_and_says_so(tmp_path, picture):
    path = tmp_path / "a.heic"
    image = pillow_heif.from_pillow(picture)
    image[0].info["exif"] = exif_of(6)
    image.save(path, quality=90)
    facts, pixels = probed(Source.of(path))
    assert (facts.width, facts.height) == (48, 64)
    assert facts.orientation == 1
    assert pixels.shape == (64, 48, 3)
    assert pixels[4, -5][2] > 180  # blue is top right after a quarter turn clockwise
    assert "exif" in facts.metadata


@pytest.mark.parametrize(
    ("mode", "bits", "alpha"),
    [("1", 1, False), ("L", 8, False), ("LA", 8, True), ("P", 8, False), ("RGBA", 8, True),
     ("I;16", 16, False)],
)  # fmt: skip
def test_png_modes_become_rgb(tmp_path, picture, mode, bits, alpha):
    path = tmp_path / "a.png"
    if mode == "I;16":
        Image.fromarray(np.full((48, 64), 0x8000, np.uint16)).save(path)
    else:
        picture.convert(mode).save(path)
    facts, pixels = probed(Source.of(path))
    assert (facts.mode, facts.bits_per_channel, facts.has_alpha) == (mode, bits, alpha)
    assert pixels.shape == (48, 64, 3)
    assert pixels.dtype == np.uint8
    if mode == "I;16":
        assert set(np.unique(pixels)) == {128}


def test_transparency_is_flattened_onto_white(tmp_path):
    path = tmp_path / "a.png"
    Image.new("RGBA", (8, 8), (0, 0, 0, 0)).save(path)
    assert pixels_of(Source.of(path)).min() == 255
    half = Image.new("RGBA", (8, 8), (0, 0, 0, 128))
    half.save(path)
    assert abs(int(pixels_of(Source.of(path))[0, 0, 0]) - 127) <= 1
    keyed = Image.new("RGB", (8, 8), (10, 20, 30))
    keyed.save(path, transparency=(10, 20, 30))
    assert probed(Source.of(path))[0].has_alpha
    assert pixels_of(Source.of(path)).min() == 255


def test_a_transparent_grey_of_16_bits_leaves_all_others_as_they_are(tmp_path):
    path = tmp_path / "a.png"
    greys = np.tile(np.arange(8, dtype=np.uint16) << 13, (8, 1))
    Image.fromarray(greys).save(path, transparency=1 << 13)
    facts, pixels = probed(Source.of(path))
    assert (facts.mode, facts.has_alpha) == ("I;16", True)
    assert pixels[0, :, 0].tolist() == [0, 255, 64, 96, 128, 160, 192, 224]


def test_cmyk_jpeg(tmp_path, picture):
    path = tmp_path / "a.jpg"
    picture.convert("CMYK").save(path, quality=95)
    facts = probed(Source.of(path))[0]
    assert facts.mode == "CMYK"
    wanted = np.asarray(picture.convert("CMYK").convert("RGB")).astype(int)
    assert np.abs(pixels_of(Source.of(path)).astype(int) - wanted).mean() < 6


def srgb_profile() -> bytes:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def swapped_profile() -> bytes:
    """A real profile of other colours: sRGB with its red and green primaries exchanged."""
    data = bytearray(srgb_profile())
    data[:] = data.replace(b"rXYZ", b"tmpX").replace(b"gXYZ", b"rXYZ").replace(b"tmpX", b"gXYZ")
    return bytes(data)


def test_icc_is_recognised_by_what_it_does_and_converted(tmp_path, picture):
    path = tmp_path / "a.png"
    picture.save(path, icc_profile=srgb_profile())
    facts = probed(Source.of(path))[0]
    assert facts.icc_profile is not None
    assert facts.icc_is_srgb is True
    assert np.array_equal(pixels_of(Source.of(path)), gradient())
    picture.save(path, icc_profile=swapped_profile())
    facts, pixels = probed(Source.of(path))
    assert facts.icc_is_srgb is False
    assert np.abs(pixels.astype(int) - gradient()[..., [1, 0, 2]]).max() <= 3
    picture.save(path, icc_profile=b"no profile at all")
    facts, pixels = probed(Source.of(path))
    assert (facts.icc_profile, facts.icc_is_srgb) == ("unreadable", None)
    assert np.array_equal(pixels, gradient())


def test_exif_behind_the_pixels_of_a_png_counts(tmp_path, picture):
    path = tmp_path / "a.png"
    picture.save(path, exif=exif_of(6, gps=True))
    data = path.read_bytes()
    start = data.index(b"eXIf") - 4
    end = start + 12 + int.from_bytes(data[start : start + 4], "big")
    path.write_bytes(data[:start] + data[end:-12] + data[start:end] + data[-12:])
    facts, pixels = probed(Source.of(path))
    assert facts.metadata == ("exif", "gps")
    assert (facts.orientation, facts.width, facts.height) == (6, 48, 64)
    assert np.array_equal(pixels, np.rot90(gradient(), -1))


def test_metadata_kinds(tmp_path, picture):
    path = tmp_path / "a.jpg"
    picture.save(path, exif=exif_of(1, gps=True), comment="hello", xmp=b"<x:xmpmeta/>",
                 icc_profile=srgb_profile())  # fmt: skip
    assert probed(Source.of(path))[0].metadata == ("comment", "exif", "gps", "icc", "xmp")
    text = PngImagePlugin.PngInfo()
    text.add_text("Author", "Ada")
    picture.save(tmp_path / "a.png", pnginfo=text)
    assert probed(Source.of(tmp_path / "a.png"))[0].metadata == ("comment",)
    picture.save(path)
    assert probed(Source.of(path))[0].metadata == ()
    open_image(Source.of(path))[1].save(tmp_path / "b.jpg")
    assert open_image(Source.of(path))[1].info == {}


def test_frames_and_base64_length(tmp_path, picture):
    path = tmp_path / "a.png"
    picture.save(path, save_all=True, append_images=[picture.rotate(90)] * 2)
    facts = probed(Source.of(path))[0]
    assert facts.frames == 3
    assert facts.base64_chars == len(base64.b64encode(path.read_bytes()))


@pytest.mark.parametrize(("mode", "shown"), [("RGBA", 191), ("RGBa", 255)])
def test_a_heic_is_flattened_whether_or_not_alpha_has_darkened_its_colours(tmp_path, mode, shown):
    path = tmp_path / "a.heic"
    half = np.full((64, 64, 4), 128, np.uint8)
    pillow_heif.from_bytes(mode, (64, 64), half.tobytes()).save(path, quality=-1)
    facts, pixels = probed(Source.of(path))
    assert (facts.mode, facts.has_alpha) == ("RGBA", True)
    assert np.abs(pixels.astype(int) - shown).max() <= 2


@pytest.mark.parametrize(
    ("transfer", "code", "shown"),
    # Diffuse white is 203 cd/m2 in both (ITU-R BT.2408 table 1); so is a grey of 26 cd/m2.
    [
        (16, 0.58, 255),
        (16, 0.38, 101),
        (16, 0.0, 0),
        (18, 0.75, 255),
        (18, 0.38, 101),
        (1, 0.5, 128),
    ],
)
def test_a_heic_in_hdr_is_shown_as_on_a_usual_display(tmp_path, transfer, code, shown):
    path = tmp_path / "a.heic"
    grey = np.full((64, 64, 3), round(code * 65_535), "<u2")
    image = pillow_heif.from_bytes("RGB;16", (64, 64), grey.tobytes())
    image.info["nclx_profile"] = {
        "color_primaries": 9 if transfer > 1 else 1,
        "transfer_characteristics": transfer,
        "matrix_coefficients": 9 if transfer > 1 else 1,
        "full_range_flag": 1,
    }
    image.save(path, quality=-1, chroma=444, save_nclx_profile=True)
    facts, pixels = probed(Source.of(path))
    assert facts.mode == "RGB"
    assert np.abs(pixels.astype(int) - shown).max() <= 3


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "HEIF"])
def test_a_truncated_file_is_found_out(tmp_path, form):
    noise = np.random.default_rng(1).integers(0, 255, (200, 300, 3), np.uint8)
    path = tmp_path / "a"
    if form == "HEIF":
        pillow_heif.from_pillow(Image.fromarray(noise)).save(path)
    else:
        Image.fromarray(noise).save(path, form)
    assert probed(Source.of(path))[0].width == 300
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])
    told = "does not decode" if form == "WEBP" else "ends too soon; it did not arrive whole"
    with pytest.raises(DamagedMedia, match=told):
        probed(Source.of(path))[0]
    assert ImageFile.LOAD_TRUNCATED_IMAGES is False


def png_claiming(width: int, height: int) -> bytes:
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x06\0\0\0"
    out = io.BytesIO(b"\x89PNG\r\n\x1a\n")
    out.seek(0, io.SEEK_END)
    for kind, body in ((b"IHDR", header), (b"IDAT", zlib.compress(b"")), (b"IEND", b"")):
        out.write(len(body).to_bytes(4, "big") + kind + body)
        out.write(zlib.crc32(kind + body).to_bytes(4, "big"))
    return out.getvalue()


def webp_claiming(width: int, height: int) -> bytes:
    body = b"\0\0\0\0" + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    chunks = b"WEBPVP8X" + len(body).to_bytes(4, "little") + body
    return b"RIFF" + len(chunks).to_bytes(4, "little") + chunks


@pytest.mark.parametrize("data", [png_claiming(65535, 65535), webp_claiming(16384, 16384)])
def test_bombs_are_refused_before_decoding_and_without_warnings(tmp_path, data):
    path = tmp_path / "a.png"
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UnsupportedMedia, match="at most 240,000,000"):
            probed(Source.of(path))[0]


def test_reduced_decoding_agrees_with_full(tmp_path):
    path = tmp_path / "a.jpg"
    Image.fromarray(gradient(1600, 1200)).save(path, quality=95, exif=exif_of(6))
    small = pixels_of(Source.of(path), max_side=400)
    assert small.shape == (400, 300, 3)
    full = Image.fromarray(pixels_of(Source.of(path))).resize((300, 400), Image.Resampling.BOX)
    assert np.abs(small.astype(int) - np.asarray(full).astype(int)).mean() < 1.5
    assert pixels_of(Source.of(path), max_side=5000).shape == (1600, 1200, 3)


def test_pictures_decode_alike_in_many_threads(tmp_path, picture):
    paths = []
    for index, form in enumerate(["JPEG", "PNG", "WEBP"] * 4):
        paths.append(tmp_path / f"{index}")
        picture.save(paths[-1], form, quality=90)
    alone = [pixels_of(Source.of(path)).sum() for path in paths]
    together = [0] * len(paths)

    def decode(index: int) -> None:
        together[index] = pixels_of(Source.of(paths[index])).sum()

    threads = [threading.Thread(target=decode, args=(index,)) for index in range(len(paths))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


def test_other_files_are_refused_by_name(tmp_path, picture):
    path = tmp_path / "a.jpg"
    path.write_text("hello")
    with pytest.raises(UnsupportedMedia, match="a text file"):
        probed(Source.of(path))[0]
    picture.save(path)
    source = Source.of(path)
    path.unlink()
    with pytest.raises(FileMissing):
        probed(source)[0]


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_region_is_a_crop_of_the_upright_image(tmp_path, picture, orientation):
    path = tmp_path / "a.png"
    picture.save(path, exif=exif_of(orientation))
    source = Source.of(path)
    region = (5, 9, 31, 40)
    upright = open_image(source)[1]
    assert open_image(source, region=region)[1] == upright.crop(region)
    for degrees in (90, 180, 270):
        turned = upright.rotate(-degrees, expand=True)
        assert open_image(source, turned_deg=degrees)[1] == turned
        again = open_image(source, region=region, turned_deg=degrees)[1]
        assert again == turned.crop(region)


def test_a_large_image_is_averaged_over_squares(tmp_path, monkeypatch):
    noise = np.random.default_rng(1).integers(0, 256, (120, 90, 3), np.uint8)
    path = tmp_path / "a.png"
    Image.fromarray(noise).save(path)
    monkeypatch.setattr(image_module, "_WORK_PIXELS", 40 * 30)
    monkeypatch.setattr("palprep.media.images.pixels._STRIP_PIXELS", 90 * 8)
    facts, picture = open_image(Source.of(path))
    assert (facts.width, facts.height, picture.size) == (90, 120, (30, 40))
    means = noise.reshape(40, 3, 30, 3, 3).mean(axis=(1, 3))
    assert np.abs(np.asarray(picture) - means).max() <= 1


@pytest.mark.parametrize("form", ["lossy", "lossless", "transparent"])
def test_webp_is_decoded_as_by_pillow(tmp_path, picture, form):
    path = tmp_path / "a.webp"
    if form == "transparent":
        picture = picture.copy()
        picture.putalpha(Image.linear_gradient("L").resize(picture.size))
    picture.save(path, lossless=form != "lossy", exact=True)
    with Image.open(path) as opened:
        white = Image.new("RGB", opened.size, "white")
        white.paste(opened.convert("RGB"), mask=opened.convert("RGBA").getchannel("A"))
    assert np.array_equal(pixels_of(Source.of(path)), np.asarray(white))


def test_a_few_bytes_that_ask_for_gigabytes_are_not_decoded(tmp_path):
    path = tmp_path / "a.webp"
    path.write_bytes(WEBP_120_MEGAPIXELS)
    source = Source.of(path)
    facts, pixels = probe_image(source, max_side=1000, max_memory_mb=250)
    assert pixels is None
    assert (facts.width, facts.decoding_mb) == (10950, pytest.approx(959, abs=1))
    with pytest.raises(UnsupportedMedia, match="takes 959 MB of memory, of which it is given 250"):
        pixels_of(source)


@pytest.mark.parametrize(("options", "least_mb"), [({}, 0.1), ({"progressive": True}, 5.2)])
def test_a_jpeg_is_decoded_smaller_where_memory_is_short(tmp_path, options, least_mb):
    path = tmp_path / "a.jpg"
    Image.new("RGB", (1600, 1080), "teal").save(path, **options)
    source = Source.of(path)
    facts, picture = open_image(source, max_memory_mb=least_mb + 0.6)
    assert facts.decoding_mb == pytest.approx(least_mb, abs=0.1)
    assert (facts.width, picture.width) == (1600, 400)


@pytest.mark.parametrize("size", [(1, 240_000_000), (240_000_000, 1)])
def test_an_image_of_one_row_or_column_for_each_pixel_is_refused(tmp_path, size):
    path = tmp_path / "thin.png"
    Image.new("1", (1, 1)).save(path)
    content = bytearray(path.read_bytes())
    content[16:24] = struct.pack(">II", *size)
    content[29:33] = struct.pack(">I", zlib.crc32(content[12:29]))
    path.write_bytes(content)
    with pytest.raises(UnsupportedMedia, match="65,535 on a side"):
        open_image(Source.of(path))

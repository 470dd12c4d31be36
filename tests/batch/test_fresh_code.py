"""A fresh code in a run: spoken after the statement, on record, and not for the service."""

from __future__ import annotations

import shutil

from palprep.dossier import examine_dossier, read_dossier
from palprep.journal import Journal, asked_code, give_code
from palprep.journal.store import utc_now
from palprep.values import Role
from palprep.views import standing


def test_a_code_that_was_spoken_live_is_evidence_and_is_not_published(
    add, go, out, log, coded_consent
):
    place = add("jane", voice=False, training=True, settings='full_name = "Jane Carter"\n')
    shutil.copy(coded_consent, place / "consent.mp4")
    words = iter(("tiger", "lemon", "cactus"))
    with Journal.of(out, create=True) as journal:
        give_code(journal, "Jane Carter", choose=lambda _: next(words))
    [person] = go().people
    assert (person.status, person.reasons) == ("done", ())
    assert log.creates == {"voice": 1, "replica": 1}
    clip = next(each.prepared for each in person.assets if each.role is Role.CONSENT_VIDEO)
    assert clip.evidence.path == out / "prepared/jane/consent-video/consent-code.mp4"
    assert not [each for each in log.requests if "code" in each]
    [path] = (out / "prepared/jane/consent-video").glob("*.consent.json")
    entry = read_dossier(path).evidence
    assert entry.code.sha256 == clip.evidence.sha256
    assert entry.consent.code.given_at < entry.consent.code.judged_at < entry.consent.code.ends_at
    assert standing(examine_dossier(path), utc_now()).word == "HOLDS"
    # Nothing is asked for again, and no other file can hold the code.
    [person] = go().people
    assert person.status == "done"
    with Journal.of(out) as journal:
        other = asked_code(journal, "Jane Carter", name="copy.mp4", sha256="0" * 64)
    assert other.spoken_in == "consent.mp4"

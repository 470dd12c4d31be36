"""The labels of footage of people who talk."""

from research.evaluation.lips import read_talkers


def test_blind_talkers_share_no_owner_and_no_person_with_the_others() -> None:
    """Whoever is in sight where a limit is set makes a later test of it no blind one."""
    blind, others = read_talkers(blind=True), read_talkers()
    assert {each.use for each in blind} == {"blind"}
    assert {each.use for each in others} == {"fit", "measure"}
    owners, known = (
        {each.source.split("/")[0].lower() for each in some} for some in (blind, others)
    )
    assert not owners & known
    assert not {each.person for each in blind} & {each.person for each in others}
    assert all(each.end_s - each.start_s >= 7 for each in blind)

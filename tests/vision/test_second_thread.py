import threading

import cv2
import pytest

from palprep.vision.analysis import beside, second_thread


@pytest.fixture
def threads():
    before = cv2.getNumThreads()
    yield cv2.setNumThreads
    cv2.setNumThreads(before)


def test_a_second_thread_takes_the_work_where_there_may_be_one(threads):
    threads(2)
    with second_thread() as other:
        assert beside(other, threading.get_ident)() != threading.get_ident()


def test_a_worker_with_one_thread_does_the_work_itself(threads):
    threads(1)
    with second_thread() as other:
        assert beside(other, threading.get_ident)() == threading.get_ident()

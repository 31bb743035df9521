"""Shapes over a picture: words of strangers stay words, whatever is in them."""

from xml.etree import ElementTree

from mlmodelscope.report.overlay import overlay
from mlmodelscope.task.shape import BoxShape, PointsShape

EVIL = "\"/><script>alert(1)</script><g title='"


def test_names_of_classes_and_samples_cannot_leave_their_place() -> None:
    shapes = [
        BoxShape("truth", 0, 0, 60, 40, name=EVIL, remark=EVIL),
        BoxShape("answer", 0, 0, 60, 40, name=EVIL, score=0.9),
        PointsShape("answer", ((1.0, 2.0), (3.0, 4.0)), ((0, 1),), name=EVIL),
    ]
    drawn = overlay(f"data:image/png;base64,{EVIL}", (64, 48), shapes, EVIL)
    tree = ElementTree.fromstring(drawn)  # it is well-formed: nothing has broken out
    assert not [each for each in tree.iter() if "script" in str(each.tag)]
    assert tree.attrib["aria-label"] == EVIL
    assert [each.text for each in tree.iter("text")] == [EVIL, EVIL]

"""A reader has two devices.

Ada reads a story on her phone, buys another one, and goes on reading on a tablet, whose stories are in a
folder of another path. On a flight both devices are without a network, and she reads on each. Then the story
gets a new version in which her segment is gone, on the tablet first. At last her brother gets the tablet.
"""

import json
import shutil
from pathlib import Path

from journey import Clock, settled

STORIES = Path(__file__).resolve().parents[2] / "Examples" / "Stories"
TALE = "frau-holle"
#: Bought for everybody, says its file.
INCLUDED = "the-fisherman-and-the-jinni"


def bought(library):
    return {story.id for story in library.filter(purchased=True)} - {INCLUDED}


def without(file, segment, instead):
    """The next version of a story: what led to a segment leads to another one."""
    document = json.loads(file.read_text())
    document["segments"] = [each for each in document["segments"] if each["id"] != segment]
    for each in document["segments"]:
        for choice in each["choices"]:
            if choice["nextSegmentId"] == segment:
                choice["nextSegmentId"] = instead
    file.write_text(json.dumps(document))


def test_reading_goes_on_where_it_was_on_another_device(device, cloud, tmp_path):
    clock = Clock()
    phone, tablet = device("phone", clock), device("tablet", clock)
    folders = [tmp_path / "phone" / "app" / "tales", tmp_path / "tablet" / "data" / "tales"]
    for folder in folders:
        shutil.copytree(STORIES, folder)
    on_phone, on_tablet = phone.stories(folders[0]), tablet.stories(folders[1])

    # She reads two segments on the phone, and buys another story.
    story = on_phone.story(TALE)
    start = story.start.id
    first = story.start.choices[0].next_segment_id
    second = story.segment(first).choices[0].next_segment_id
    for segment in (start, first):
        clock.wait(1000)
        on_phone.progress(TALE).move_to(segment)
    on_phone.mark_purchased("thor-the-bride")
    settled("ada", cloud, phone, tablet)

    # The tablet opens at her place, and goes on; the phone follows.
    progress = on_tablet.progress(TALE)
    assert (progress.position, progress.visited) == (first, [start, first])
    assert bought(on_tablet) == {"thor-the-bride"}
    clock.wait(1000)
    progress.move_to(second)
    settled("ada", cloud, tablet, phone)
    assert on_phone.progress(TALE) == on_tablet.progress(TALE)

    # Above the clouds she reads on both, and buys a story on each.
    clock.wait(1000)
    on_phone.progress(TALE).move_to(start)
    on_phone.mark_purchased("urashima-taro")
    clock.wait(1000)
    on_tablet.progress(TALE).move_to(first)
    on_tablet.mark_purchased(TALE)
    settled("ada", cloud, phone, tablet)
    for library in (on_phone, on_tablet):
        assert library.progress(TALE).position == first
        assert library.progress(TALE).visited == [start, first, second]
        assert bought(library) == {"thor-the-bride", "urashima-taro", TALE}

    # The tablet gets a new version of the story, in which her segment is gone. The phone stays where she was.
    without(folders[1] / f"{TALE}.json", first, second)
    moved = on_tablet.refresh().moved
    assert [(move.story, move.from_) for move in moved] == [(TALE, first)]
    assert on_tablet.progress(TALE).position == moved[0].to
    assert on_tablet.progress(TALE).moved_from == first
    settled("ada", cloud, tablet, phone)
    assert on_phone.progress(TALE).position == first
    shutil.copy(folders[1] / f"{TALE}.json", folders[0])
    on_phone.refresh()
    assert on_phone.progress(TALE) == on_tablet.progress(TALE)

    # Her brother gets the tablet: he begins at the beginning, and has bought nothing. She loses nothing.
    tablet.sign_out(cloud)
    assert (on_tablet.progress(TALE).position, bought(on_tablet)) == (None, set())
    clock.wait(1000)
    on_tablet.progress(TALE).move_to(start)
    settled("ben", cloud, tablet)
    settled("ada", cloud, phone)
    assert on_tablet.progress(TALE).visited == [start]
    assert on_phone.progress(TALE).moved_from == first
    assert len(bought(on_phone)) == 3

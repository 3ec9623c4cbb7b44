"""A shelf of stories.

Lists the stories of a directory, searches them, reads one as it was handed down, and shows what an author
hears of a slip of the pen, and of a new version. Usage: shelf.py directory
"""

import sys
from pathlib import Path

import satchel
from satchel import stories

FILE = Path("shelf.satchel")
TALE = "urashima-taro"


def ways(count: int) -> str:
    return "unbounded" if count == stories.UNBOUNDED else str(count)


def show_shelf(library: satchel.StoryLibrary) -> None:
    """Lists all stories, as a screen would: from the index, once the files have been looked at."""
    listing = library.load_all()
    print(f"On the shelf: {len(listing)} stories, {len(listing.problems)} files that are none.")
    for story in listing:
        culture = story.cultural_origin or ""
        print(f"  {story.age_range:<5} {culture:<19} {ways(story.path_count):>9} ways  {story.title}")


def search(library: satchel.StoryLibrary, text: str) -> None:
    """Words begin words of title or synopsis; case and diacritics do not count."""
    found = ", ".join(story.title or story.id for story in library.search(text))
    print(f'Searching "{text}" finds {found}.')


def first_sentence(text: str) -> str:
    return text.split(". ")[0].removesuffix(".") + "."


def read(library: satchel.StoryLibrary) -> None:
    """Reads a story along its authentic path, from the start to an ending."""
    print("\nAs it was handed down:")
    segment = library.segment(TALE)
    print(f"  {first_sentence(segment.text)}")
    while not segment.is_ending:
        ahead = [(choice, library.segment(TALE, choice.next_segment_id)) for choice in segment.choices]
        choice, segment = next(way for way in ahead if way[1].is_authentic_path)
        print(f"    > {choice.text}\n  {first_sentence(segment.text)}")


def buy(library: satchel.StoryLibrary) -> None:
    """Purchases are kept in the store; the file is not changed."""
    library.mark_purchased(TALE)
    bought = ", ".join(story.title or story.id for story in library.filter(purchased=True))
    print(f"\nBought: {bought}.")


def check_slip(text: bytes) -> None:
    """An author misspells where a choice leads. The report has a line a finding, as compilers write."""
    slip = text.replace(b'Id": "the-crane"', b'Id": "the-crnae"')
    print(f"\nA slip of the pen:\n{stories.check(slip, name='slip.json').text()}", end="")


def show_rename(text: bytes) -> None:
    """Readers are in the middle of a story when a new version comes."""
    print("\nA segment gets another name. What breaks for its readers?")
    for position in stories.diff(text, text.replace(b'"the-return"', b'"homecoming"')).broken:
        print(f'  "{position.segment}" is {position.reason}; go on at "{position.suggestion}".')


def count_ways(rooms: int) -> None:
    """Ways are counted, never listed; the number is exact whatever its size."""
    labyrinth = "".join(
        f":: Room {room}\n[[Left->Room {room + 1}]] [[Right->Room {room + 1}]]\n\n" for room in range(rooms)
    )
    story = stories.load(f"{labyrinth}:: Room {rooms}\nDaylight.\n".encode())
    print(f"\nWays through {rooms} rooms with two doors each: {story.path_count}")


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("Usage: shelf.py directory")
    with satchel.open(FILE) as store, store.stories(sys.argv[1]) as library:
        show_shelf(library)
        print()
        search(library, "urashima taro")
        search(library, "ryugu")
        read(library)
        buy(library)
        text = library.story(TALE).text
    check_slip(text)
    show_rename(text)
    count_ways(100)
    FILE.unlink()


if __name__ == "__main__":
    main()

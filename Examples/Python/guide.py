"""A travel guide that works offline.

Stores what a backend sent for some hundred towns, goes offline, and shows what a traveller sees.
Usage: guide.py places.jsonl
"""

import sys
import time
from pathlib import Path

import satchel

FILE = Path("guide.satchel")
PORTO = {
    "latitude": 41.14961,
    "longitude": -8.61099,
    "locality": "Porto",
    "admin_area": "Porto",
    "country_code": "PT",
}
JOURNEY = {
    "Porto": PORTO,
    "Porto, 20 metres on": PORTO | {"latitude": 41.14979},
    "Singapore": {"locality": "Singapore", "admin_area": "Central Singapore", "country_code": "SG"},
    "A town in Portugal, never visited": {"locality": "Piódão", "admin_area": "Beira", "country_code": "PT"},
}

# In Unix milliseconds; the store asks for it, so that a day can pass here.
today = time.time_ns() // 1_000_000


def open_guide() -> satchel.Store:
    return satchel.open(FILE, clock=lambda: today)


def milliseconds_since(start: float) -> float:
    return (time.perf_counter() - start) * 1000


def store_deliveries(store: satchel.Store, deliveries: list[bytes]) -> None:
    """Stores deliveries; each is durable when its call returns."""
    start = time.perf_counter()
    receipts = [receipt for delivery in deliveries for receipt in store.catalogue.deliver(delivery)]
    took = milliseconds_since(start)
    print(f"Took in {len(deliveries)} deliveries in {took:.3f} ms; each was on the disk before the next.")
    print(f"{sum(each.shared_bytes for each in receipts)} bytes of them were stored once instead of again.")


def visit(store: satchel.Store, title: str, location: dict) -> None:
    """Shows a place as a screen would: the headers first, then each section's content."""
    start = time.perf_counter()
    headers = store.catalogue.sections(location)
    print(f"\n{title}: headers in {milliseconds_since(start):.3f} ms")
    for header in headers:
        start = time.perf_counter()
        # Old is better than nothing, offline.
        section = store.catalogue.load(location, header.section, allow_expired=True)
        print(
            f"  {milliseconds_since(start):.3f} ms  {header.section:<7}  entities {header.entity_count:2}, "
            f"expired {len(section.expired)}, by {section.level:<10}  {header.display_title}"
        )


def show_plan(store: satchel.Store, when: str) -> None:
    """The numbers of entities of Porto by plan, counted over its sections."""
    plans = store.catalogue.plan(PORTO).values()
    fresh, expired, missing = (
        sum(len(getattr(plan, kind)) for plan in plans) for kind in ("fresh", "expired", "missing")
    )
    print(f"  {when:<15} {fresh} fresh, {expired} expired, {missing} missing")


def download(request: satchel.assets.AssetRequest) -> bytes:
    """Stands for a download: urllib.request.urlopen(request.url) would return the response."""
    return request.url.encode() * 1000


def keep_pictures(store: satchel.Store) -> None:
    """Stores what a backend says of two sights, and fetches their pictures for the way."""
    sights = {
        name: {
            "picture": satchel.Asset(url=f"https://guide.example/{name}.jpg", type="image/jpeg"),
            "_storage": {"entity_id": f"sights:{name}", "scope": "locality", "ttl_hours": 1000},
        }
        for name in ("ribeira", "bridge")
    }
    store.catalogue.persist(PORTO, {"section": "sights", "display_title": "Sights", "content": sights})
    report = store.assets.fetch([sight["picture"] for sight in sights.values()], download)
    print(f"Fetched {report.fetched} pictures, {report.fetched_bytes} bytes.")


def show_pictures(store: satchel.Store) -> None:
    """Shows the pictures of the sights, each with a thumbnail that is made once."""
    section = store.catalogue.load(PORTO, "sights")
    for name, sight in section.content.items():
        picture = store.assets.get(sight["picture"])
        if picture.state == "here":
            # Stands for a smaller picture: every hundredth byte.
            small = store.assets.variant(picture, "thumb", lambda file: file.read()[::100])
            print(f"  {name:<7}  {len(picture.bytes())} bytes, its thumbnail {small.size}")
        else:
            print(f"  {name:<7}  {picture.state}")


def main() -> None:
    global today
    if len(sys.argv) != 2:
        sys.exit("Usage: guide.py places.jsonl")
    with open_guide() as store:
        store_deliveries(store, Path(sys.argv[1]).read_bytes().splitlines())
        keep_pictures(store)

    print("\nOffline from here on.")
    with open_guide() as store:
        for title, location in JOURNEY.items():
            visit(store, title, location)
        print("\nPictures of Porto:")
        show_pictures(store)

        print("\nA day passes. What is there to fetch for Porto?")
        show_plan(store, "before")
        today += 25 * 3600 * 1000
        show_plan(store, "a day later")
        visit(store, "Porto, still readable", PORTO)

        receipt = store.catalogue.prune()
        print(f"\nPruned {receipt.entities} expired entities, {receipt.bytes} bytes.")
        show_plan(store, "after pruning")
        pruned = store.assets.prune(max_bytes=35_000)
        print(f"Pruned to 35000 bytes of pictures: {pruned.removed} removed, {pruned.bytes} bytes are left.")
        show_pictures(store)
    FILE.unlink()


if __name__ == "__main__":
    main()

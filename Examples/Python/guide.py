"""A travel guide that works offline: the screen of a place, and a trip that is downloaded with its pictures.

Start the backend in another terminal; the guide asks you to change one of its files, and to stop it.
    python3 Examples/Backend/backend.py
    python3 Examples/Python/guide.py http://127.0.0.1:8000/places
"""

import asyncio
import sys
import time
from pathlib import Path

import satchel.aio

PORTO = {"locality": "Porto", "admin_area": "Porto", "country_code": "PT"}
LISBON = {"locality": "Lisbon", "admin_area": "Lisbon", "country_code": "PT"}
SINTRA = {"locality": "Sintra", "admin_area": "Lisbon", "country_code": "PT"}
TRIP = [PORTO, LISBON, SINTRA]
TABS = ["sights", "places", "here"]
HOUR = 3_600_000
# In Unix milliseconds; the store asks for it, so that a day can pass here.
today = time.time_ns() // 1_000_000


class Guide:
    """The app. Its screen draws what a session has, when the session says that it has changed."""

    def __init__(self, store: satchel.aio.Store, backend: satchel.HTTPSource) -> None:
        self.store, self.backend = store, backend
        self.change = asyncio.Event()

    async def open_screen(self, place: dict) -> None:
        """Shows what is stored of a place at once, and what the backend has when it comes."""
        self.drawn: dict[str, str] = {}
        self.session = await self.store.catalogue.session(self.on_event, source=self.backend)
        await self.session.show(place)
        await asyncio.gather(*map(self.session.load, TABS))
        await self.draw_changes()

    async def pull_down(self) -> None:
        """Asks the backend for what has changed. What is on the screen stays meanwhile."""
        await self.session.refresh()
        await self.draw_changes()

    def on_event(self, event: dict) -> None:
        if event["event"] == "refresh":
            print(f"  stored sections: {len(event['plan'])}")
        self.change.set()

    async def draw_changes(self) -> None:
        """Draws until every tab has something, and the backend has answered."""
        is_done = False
        while not is_done:
            await self.change.wait()
            self.change.clear()
            state = await self.session.state()
            for each in state.sections:
                is_empty = each.state in ("placeholder", "loading") and each.section not in self.drawn
                if not is_empty and self.drawn.get(each.section) != (text := describe(each)):
                    self.drawn[each.section] = text
                    print(f"  {each.section:<7} {text}")
            is_done = len(self.drawn) == len(TABS) and not state.refreshing
        if state.error:
            print(f"  {state.error}")

    async def refresh(self, place: dict, force: bool = False) -> None:
        """Gets what is missing or old; by force, asks also whether what is fresh has changed."""
        report = await self.store.catalogue.refresh(place, source=self.backend, force=force)
        news = f"{len(report.refreshed)} new sections, {len(report.unchanged)} not modified (304)"
        print(f"  not asked: {report.skipped[0].reason}" if report.skipped else f"  {news}")

    async def download_trip(self) -> None:
        self.trip = await self.store.catalogue.regions.create("Portugal", TRIP)
        await self.trip.download(
            self.backend, lambda now: print(f"\r  {now.items_done} of {now.items}", end="", flush=True)
        )
        print()

    async def show_trip(self) -> None:
        """Shows what is here of the trip, and reads the bytes of its pictures."""
        trip, sizes = await self.trip.summary(), ""
        for place in TRIP:
            sights = await self.store.catalogue.load(place, "sights")
            for sight in sights.content["items"] if sights else []:
                sizes += f" {len(await self.store.assets.read(sight['picture']))}"
        entries = f"{trip.size.sections} sections, {trip.size.entities} entries"
        print(f"  {trip.state}: {entries}; pictures of{sizes} bytes")

    async def make_room(self) -> None:
        report = await self.store.catalogue.prune(max_bytes=1000)
        await self.store.assets.prune(max_bytes=1000)
        print(f"\nPruned to 1000 bytes: {report.contexts} place is gone, nothing of the trip:")

    async def delete_trip(self) -> None:
        await self.store.catalogue.set_active_location(None)  # no screen shows it
        gone = await self.trip.delete()
        print(f"  {gone.sections} sections, {gone.assets} pictures of {gone.asset_bytes} bytes")


def describe(section: satchel.SessionSection) -> str:
    if section.state != "loaded":
        return section.state
    age = f", {(today - section.fetched_at) // HOUR} hours old, {len(section.expired)} expired"
    return f"{section.display_title} ({section.entity_count}){age if section.error else ''}"


async def ask(request: str) -> None:
    print(f"\n{request}, and press Enter.", flush=True)
    await asyncio.to_thread(sys.stdin.readline)


async def main(url: str) -> None:
    global today
    # A private address, as "localhost", has to be that of the base URL, or allowed by `allow_private`.
    backend = satchel.HTTPSource(url)
    async with satchel.aio.open("guide.satchel", clock=lambda: today) as store:
        guide = Guide(store, backend)
        print("Porto is opened for the first time:")
        await guide.open_screen(PORTO)
        await guide.session.close()
        print("\nPorto is opened again:")
        await guide.open_screen(PORTO)
        print("\nIs there anything new? What is fresh is asked for by force only:")
        await guide.refresh(PORTO)
        await guide.refresh(PORTO, force=True)
        await ask('Change the title "Sights of Porto" in places/porto.json of the backend')
        await guide.pull_down()
        print("\nSingapore is stored, and is not of the trip:")
        await guide.refresh({"locality": "Singapore", "country_code": "SG"})
        print("\nThe trip is downloaded:")
        await guide.download_trip()
        await guide.show_trip()
        await ask("Stop the backend")
        print("\nA day passes. The screen is pulled down:")
        today += 25 * HOUR
        await guide.pull_down()
        await guide.session.close()
        print("\nBraga, which is not of the trip, is opened:")
        await guide.open_screen({"locality": "Braga", "admin_area": "Braga", "country_code": "PT"})
        print("\nThe trip is there without the backend, some of it expired:")
        await guide.show_trip()
        await guide.make_room()
        await guide.show_trip()
        print("\nThe trip is deleted, which frees:")
        await guide.delete_trip()
    Path("guide.satchel").unlink()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))

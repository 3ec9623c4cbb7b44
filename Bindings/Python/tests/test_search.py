"""Search: what it finds and in which order, held against a plain scan of all texts."""

from __future__ import annotations

import math
import random
import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any, Dict, Iterable, List, NamedTuple, Tuple

import pytest
from helpers import HOUR, Clock, portion_of, section, storage

import satchel

SCRIPTS: Dict[str, str] = {
    "Latin": "Café Zürich naïve straße Łódź smørrebrød œuvre São Paulo temple garden noodles",
    "Greek": "Αθήνα θάλασσα Ακρόπολη μουσείο άνθρωπος νύχτα γέφυρα λιμάνι αγορά φως",
    "Cyrillic": "Москва ёлка музей Київ площадь рынок гора собор река мост",  # noqa: RUF001
    "Hebrew": "שָׁלוֹם יְרוּשָׁלַיִם שוק ים מדבר גן מוזיאון לחם אור בית",
    "Arabic": "مَدِينَة سوق القاهرة أهرام بحر متحف جسر قهوة خبز نور",
    "Devanagari": "दिल्ली मंदिर नदी किला बाज़ार संगीत चाय पर्वत उत्सव मिठाई",
    "Thai": "กรุงเทพมหานคร วัดพระแก้ว ตลาดน้ำ ต้มยำกุ้ง ทะเล ภูเขา สะพาน พิพิธภัณฑ์ ชา ดอกไม้",
    "Chinese": "小籠包 上海博物館 豫园 外滩夜景 北京烤鸭 茶馆 长城 江南古镇 广场 面条",
    "Japanese": "東京タワー 金閣寺 ラーメン 温泉旅館 さくらまつり 抹茶アイス 新幹線 すし がっこう 富士山",
    "Korean": "서울 경복궁 한옥마을 김치찌개 시장 바다 박물관 다리 축제 부산항",
}
UNSPACED = ("THAI", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "IDEOGRAPHIC")
DROPPING = ("LATIN", "GREEK", "CYRILLIC", "HEBREW", "ARABIC")
STROKES = str.maketrans({"ø": "o", "ł": "l", "œ": "oe"})


def words(text: str) -> List[Tuple[str, bool]]:
    """The words of a text, and the runs of scripts without spaces."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold()).translate(STROKES)
    kept: List[str] = []
    base = ""
    for letter in folded:
        kind = unicodedata.category(letter)[0]
        if kind == "M" and base in DROPPING:
            continue
        if kind != "M":
            base = unicodedata.name(letter, "").split(" ")[0]
        kept.append(letter if kind in "LNM" else " ")
    found = []
    for word in unicodedata.normalize("NFC", "".join(kept)).split():
        for part in re.findall("[\u0e00-\u0eff\u3005-\u9fff]+|[^\u0e00-\u0eff\u3005-\u9fff]+", word):
            found.append((part, unicodedata.name(part[0], "").split(" ")[0] in UNSPACED))
    return found


def occurrences(term: Tuple[str, bool], found: List[Tuple[str, bool]]) -> int:
    text, is_run = term
    if not is_run:
        return sum(1 for word, run in found if not run and word.startswith(text))
    return sum(1 for word, run in found if run for start in range(len(word)) if word.startswith(text, start))


def length(found: List[Tuple[str, bool]]) -> int:
    """The number of tokens: a word is one, a run has one for each character."""
    return sum(len(word) if run else 1 for word, run in found)


class Text(NamedTuple):
    section: str
    entity_id: str
    place: str
    name: List[Tuple[str, bool]]
    body: List[Tuple[str, bool]]


def scan(texts: List[Text], query: str, shown: Iterable[Text]) -> List[Tuple[float, str, str]]:
    """The expected results, the best first: BM25 over all texts, a word of a name counting ten times."""
    terms = list(dict.fromkeys(words(query)))
    average = sum(length(text.name) + length(text.body) for text in texts) / len(texts)
    counts = {
        term: {
            index: (one, other)
            for index, text in enumerate(texts)
            if (one := occurrences(term, text.name)) + (other := occurrences(term, text.body))
        }
        for term in terms
    }
    wanted = set(shown)
    results = []
    for index in set.intersection(*(set(each) for each in counts.values())):
        text = texts[index]
        if text[:3] not in wanted:
            continue
        score = 0.0
        for term in terms:
            hits = len(counts[term])
            rarity = max(math.log((len(texts) - hits + 0.5) / (hits + 0.5)), 1e-6)
            frequency = 10 * counts[term][index][0] + counts[term][index][1]
            size = (length(text.name) + length(text.body)) / average
            score += rarity * frequency * 2.2 / (frequency + 1.2 * (1 - 0.75 + 0.75 * size))
        results.append((score, text.section, text.entity_id))
    return sorted(results, key=lambda each: (-each[0], each[1].encode(), each[2].encode()))


PLACES = [{"country_code": "XX", "locality": f"Town {number}"} for number in range(10)]
QUERIES = [
    "cafe", "CAFÉ", "zur", "strasse", "lodz", "smorrebrod", "oeuvre", "sao paulo", "temple gar",
    "αθηνα", "ΘΑΛΑΣΣΑ", "ακρο", "елка", "київ", "музей", "שלום", "ירוש", "مدينة", "القا", "दिल्ली", "मंदिर",
    "กรุงเทพ", "พระแก้ว", "น้ำ", "籠包", "包", "博物", "长城", "東京", "タワー", "がっこう", "か",
    "서울", "한옥",
    "cafe 籠包", "nothing here", "…",
]  # fmt: skip


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """100,000 entities in ten scripts, in ten towns, and what a scan knows about them."""
    chance = random.Random(7)
    vocabulary = {name: listed.split() for name, listed in SCRIPTS.items()}
    folded = {word: words(word) for listed in vocabulary.values() for word in listed}
    texts: List[Text] = []
    path = tmp_path_factory.mktemp("search") / "guide.satchel"
    with satchel.open(path) as store:
        for number in range(100):
            town = number % 10
            name = f"section {number // 10}"
            items = []
            for item in range(1000):
                script = chance.choice(list(vocabulary))
                chosen = [chance.choice(vocabulary[script]) for _ in range(chance.randint(2, 6))]
                if chance.random() < 0.1:
                    chosen.append(chance.choice(vocabulary["Latin"]))
                entity_id = f"s{number // 10}:{item:04}"
                items.append(
                    {
                        "local_name": chosen[0],
                        "facts": {"of": [{"text": " ".join(chosen[1:-1])}, chosen[-1], 5, None]},
                        **storage(entity_id, "locality"),
                    }
                )
                title = folded[chosen[0]]
                body = title + [part for word in chosen[1:] for part in folded[word]]
                texts.append(Text(name, entity_id, f"xx__town_{town}", title, body))
            store.catalogue.persist(PLACES[town], section({"items": items}, name))
        yield store, texts


def expected(texts: List[Text], query: str, place: Any = None) -> List[Tuple[float, str, str]]:
    shown = {text[:3] for text in texts if place is None or text.place == place}
    return scan(texts, query, shown)  # type: ignore[arg-type]


@pytest.mark.parametrize("query", portion_of(QUERIES, parts=4))
def test_search_finds_what_a_scan_finds_in_the_same_order(library: Any, query: str) -> None:
    store, texts = library
    wanted = expected(texts, query, "xx__town_3") if words(query) else []
    hits = store.catalogue.search(query, PLACES[3], limit=100_000)
    assert sorted((hit.section, hit.entity_id) for hit in hits) == sorted(each[1:] for each in wanted)
    assert [hit.score for hit in hits] == pytest.approx([score for score, *_ in wanted], rel=1e-9)
    ranks = [(-hit.score, hit.section.encode(), hit.entity_id.encode()) for hit in hits]
    assert ranks == sorted(ranks)
    assert store.catalogue.search(query, PLACES[3]) == hits[:20]
    everywhere = store.catalogue.search(query, limit=100_000)
    assert len(everywhere) == (len(expected(texts, query)) if words(query) else 0)
    for hit in hits[:20]:
        assert hit.place == "xx__town_3"
        excerpt = words(hit.excerpt) + words(hit.display_name)
        assert any(occurrences(term, excerpt) for term in words(query)), hit


def test_the_index_is_sound(library: Any) -> None:
    store, _ = library
    assert store.check() == []


BREAD = {"Bread": {"text": "Warm from the oven", **storage("food:bread", "country", 1)}}
LYON = {"country_code": "FR", "locality": "Lyon"}
PARIS = {"country_code": "FR", "locality": "Paris"}


def found(catalogue: satchel.Catalogue, text: str, *arguments: Any, **options: Any) -> List[str]:
    return [hit.entity_id for hit in catalogue.search(text, *arguments, **options)]


def test_it_follows_what_changes(path: Path, clock: Clock) -> None:
    with satchel.open(path, clock=clock) as store:
        c = store.catalogue
        assert found(c, "oven") == []
        c.persist(LYON, section(BREAD, "food"))
        [hit] = c.search("oven")
        assert (hit.section, hit.display_name, hit.excerpt) == ("food", "Bread", "Warm from the oven")
        assert (hit.scope, hit.place, hit.expired) == ("country", "fr", False)
        assert found(c, "OVEN war", LYON) == found(c, "bread", PARIS) == ["food:bread"]
        c.persist(LYON, section({"Bread": {**BREAD["Bread"], "text": "Cold"}}, "food"))
        assert (found(c, "oven"), found(c, "cold")) == ([], ["food:bread"])
        clock.advance(2 * HOUR)
        assert found(c, "cold") == []
        [hit] = c.search("cold", allow_expired=True)
        assert hit.expired
        assert c.prune().entities == 1
        assert found(c, "cold", allow_expired=True) == []
        c.persist(LYON, section(BREAD, "food"))
        # An entity that no section shows any more is not found.
        c.persist(LYON, section({"note": "closed"}, "food"))
        assert found(c, "bread") == []
        assert store.check() == []


def test_only_what_the_place_sees(catalogue: satchel.Catalogue) -> None:
    def entity(value: str, scope: str) -> Dict[str, Any]:
        return {"name": value, "tag": "bakery", **storage(f"food:{value}", scope)}

    catalogue.persist(LYON, section([entity("town", "locality"), entity("land", "country")], "food"))
    catalogue.persist(PARIS, section([entity("capital", "locality")], "food"))
    germany = {"country_code": "DE"}
    catalogue.persist(germany, section([entity("world", "global")], "travel"))
    assert sorted(found(catalogue, "bakery")) == ["food:capital", "food:land", "food:town", "food:world"]
    assert sorted(found(catalogue, "bakery", LYON)) == ["food:land", "food:town", "food:world"]
    # Its own section of that name hides the one of Lyon.
    assert sorted(found(catalogue, "bakery", PARIS)) == ["food:capital", "food:world"]
    [hit] = catalogue.search("bakery", germany)
    assert (hit.section, hit.entity_id, hit.place) == ("travel", "food:world", None)
    assert found(catalogue, "bakery", {"country_code": "JP"}) == ["food:world"]


def test_a_location_without_names_sees_what_is_near(catalogue: satchel.Catalogue) -> None:
    there = {**LYON, "latitude": 45.76, "longitude": 4.84}
    catalogue.persist(there, section(BREAD, "food"))
    here = {"latitude": 45.7601, "longitude": 4.84}
    assert found(catalogue, "oven", here) == ["food:bread"]
    assert found(catalogue, "oven", here, nearby=0) == []


def test_excerpts_are_around_the_word(catalogue: satchel.Catalogue) -> None:
    long = " ".join(f"filler{number}" for number in range(100))
    text = f"{long} Yu Garden by night {long}"
    run = "前" * 200 + "豫园" + "后" * 200
    items = [{"v": text, **storage("a:1", "country")}, {"v": run, **storage("a:2", "country")}]
    catalogue.persist(LYON, section(items, "a"))
    [hit] = catalogue.search("garden yu")
    assert "Yu Garden by night" in hit.excerpt
    assert len(hit.excerpt) < 140
    assert hit.excerpt.startswith("…")
    assert hit.excerpt.endswith("…")
    assert hit.excerpt.strip("…") in text
    [hit] = catalogue.search("豫园")
    assert "豫园" in hit.excerpt
    assert len(hit.excerpt) < 140


def test_a_read_only_store_can_be_searched(path: Path) -> None:
    with satchel.open(path) as store:
        store.catalogue.persist(LYON, section(BREAD, "food"))
        with satchel.open(path, read_only=True) as reader:
            # Without an index in the file, with one that lacks later deliveries, and with a current one.
            assert found(reader.catalogue, "oven") == ["food:bread"]
            assert found(reader.catalogue, "oven", LYON) == ["food:bread"]
            for number in range(3):
                items = [{"v": f"kiln {number}", **storage(f"a:{number}", "country")}]
                store.catalogue.persist(LYON, section(items, f"a{number}"))
                assert found(reader.catalogue, "kiln") == [f"a:{each}" for each in range(number + 1)]
                if number == 0:
                    assert found(store.catalogue, "oven") == ["food:bread"]
            store.catalogue.delete_entity("food:bread")
            assert found(reader.catalogue, "oven") == []
            assert found(store.catalogue, "kiln") == ["a:0", "a:1", "a:2"]
            assert found(reader.catalogue, "kiln") == ["a:0", "a:1", "a:2"]
    assert "entity_search" in {each["name"] for each in _tables(path)}


BROKEN_INDEX = {
    "another version": "UPDATE {0}_config SET v = 5 WHERE k = 'version'",
    "without a version": "DELETE FROM {0}_config",
    "damaged": "UPDATE {0}_data SET block = x'ffffffffff'",
    "empty": "DELETE FROM {0}_data",
}


def _break_index(path: Path, table: str, how: str) -> None:
    import sqlite3

    connection = sqlite3.connect(path)
    try:
        connection.execute(BROKEN_INDEX[how].format(table))
        connection.commit()
    finally:
        connection.close()


@pytest.mark.parametrize("how", list(BROKEN_INDEX))
def test_a_search_index_that_cannot_be_read_is_made_again(path: Path, how: str) -> None:
    with satchel.open(path) as store:
        store.catalogue.persist(LYON, section(BREAD, "food"))
        assert found(store.catalogue, "oven") == ["food:bread"]
    _break_index(path, "entity_search", how)
    with satchel.open(path, read_only=True) as store:
        assert found(store.catalogue, "oven") == ["food:bread"]
    with satchel.open(path) as store:
        assert found(store.catalogue, "oven") == ["food:bread"]
        assert store.check() == []
    for call in ("prune", "budget", "delete_entity", "delete_context", "persist"):
        _break_index(path, "entity_search", how)
        with satchel.open(path) as store:
            c = store.catalogue
            if call == "prune":
                c.prune(expired=True, unreferenced=True)
            elif call == "budget":
                c.set_active_location(LYON)
                assert c.prune(max_bytes=0).over_budget > 0
            elif call == "delete_entity":
                assert c.delete_entity("food:bread").entities == 1
                c.persist(LYON, section(BREAD, "food"))
            elif call == "delete_context":
                assert c.delete_context(LYON).contexts == 1
                c.persist(LYON, section(BREAD, "food"))
            else:
                c.persist(LYON, section(BREAD, "food"))
            assert found(c, "oven") == ["food:bread"]
            assert store.check() == []


@pytest.mark.parametrize("how", list(BROKEN_INDEX))
def test_a_search_index_of_stories_that_cannot_be_read_is_made_again(
    path: Path, tmp_path: Path, how: str
) -> None:
    import json

    shelf = tmp_path / "shelf"
    shelf.mkdir()
    story = {"id": "s", "title": "The Lantern", "segments": [{"id": "a", "text": "End."}]}
    (shelf / "s.json").write_text(json.dumps(story))
    with satchel.open(path) as store:
        [expected] = [each.title for each in store.stories(shelf).search("lantern")]
    for call in ("search", "refresh"):
        _break_index(path, "story_search", how)
        with satchel.open(path, read_only=True) as store:
            assert [each.title for each in store.stories(shelf).search("lantern")] == [expected]
        with satchel.open(path) as store:
            books = store.stories(shelf)
            if call == "refresh":
                (shelf / "s.json").write_text(json.dumps({**story, "title": "The Lantern again"}))
                books.refresh()
                expected = "The Lantern again"
            assert [each.title for each in books.search("lantern")] == [expected]
            assert store.check() == []


@pytest.mark.parametrize("text", ["a b " * 40 + " ".join(map(str, range(70))), "籠" * 65])
def test_too_many_words_are_refused(catalogue: satchel.Catalogue, text: str) -> None:
    with pytest.raises(satchel.InvalidArgument, match="at most 64"):
        catalogue.search(text)


@pytest.mark.parametrize("text", ["", " ", '"', "*", 'a" OR b', "NEAR(a b)", "^x", "-y", "name : z", "\0"])
def test_no_text_is_syntax(catalogue: satchel.Catalogue, text: str) -> None:
    catalogue.persist(LYON, section(BREAD, "food"))
    assert catalogue.search(text) == []


def test_persisting_pays_nothing_before_the_first_search(path: Path) -> None:
    with satchel.open(path) as store:
        for _ in range(3):
            store.catalogue.persist(LYON, section(BREAD, "food"))
        subjects = {each["name"] for each in _tables(path)}
        assert "entity_search" not in subjects
        store.catalogue.search("oven")
        assert "entity_search" in {each["name"] for each in _tables(path)}


def _tables(path: Path) -> List[Dict[str, Any]]:
    import sqlite3

    connection = sqlite3.connect(path)
    try:
        return [{"name": row[0]} for row in connection.execute("SELECT name FROM sqlite_schema")]
    finally:
        connection.close()


def test_the_budget_of_pruning_removes_the_index_first(path: Path) -> None:
    with satchel.open(path) as store:
        items = [
            {"text": f"word{number} " * 50, **storage(f"a:{number}", "country")} for number in range(500)
        ]
        store.catalogue.persist(LYON, section(items, "a"))
        before = Counter(each["name"] for each in _tables(path))
        size = path.stat().st_size
        assert found(store.catalogue, "word77") == ["a:77"]
        used = store.info().file_bytes
        assert used > size
        receipt = store.catalogue.prune(max_bytes=600_000)
        assert (receipt.entities, receipt.contexts) == (0, 0)
        assert store.check() == []
        assert found(store.catalogue, "word77") == ["a:77"]
        assert before["entity"] == 1

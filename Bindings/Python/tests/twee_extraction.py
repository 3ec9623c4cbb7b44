"""An extraction of choices from Twee that shares nothing with the library: regular expressions.

Slow and simple, it finds what a reader of a game can click: links in brackets, macros and elements with a
text, and jumps without one. It knows no graph and no findings. As a program it compares
games with the library:

    python twee_extraction.py DIRECTORY-OR-FILE …
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

SPECIAL = re.compile(
    r"Story(Title|Data|Author|Settings|Includes|Init|Caption|Menu|Banner|Subtitle|DisplayTitle|Interface|Share)"
    r"|Passage(Header|Footer|Ready|Done)|User(Script|Stylesheet)|Story (JavaScript|Stylesheet)"
    r"|Menu(Options|Share|Story)"
)
STRING = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'"
SUGAR_LINK = re.compile(
    rf"<<(?P<name>link|button|click|linkappend|linkprepend|linkreplace)\s+(?P<text>{STRING})"
    rf"(?:\s+(?P<target>{STRING}|[^\s>\"'`$_([]+))?[^>]*?>>"
)
SUGAR_GOTO = re.compile(rf"<<goto\s+(?P<target>{STRING}|[^\s>\"'`$_([]+)\s*>>")
PLAY = re.compile(
    rf"(?:Engine\.play|Engine\.goto|state\.display|Engine\.display|story\.show)\(\s*({STRING})\s*[,)]", re.I
)
HARLOWE_LINK = re.compile(
    rf"\((?:link|link-replace|link-reveal|link-repeat|link-rerun|link-append)\s*:\s*({STRING})\s*\)", re.I
)
HARLOWE_LINK_GOTO = re.compile(
    rf"\((?:link-?_?(?:reveal-?)?goto)\s*:\s*(?:({STRING})\s*,\s*)?({STRING})\s*\)", re.I
)
HARLOWE_GOTO = re.compile(rf"\((?:go-?to|redirect)\s*:\s*({STRING})\s*\)", re.I)
CHAPBOOK_LINK = re.compile(rf"\{{link to:\s*({STRING})(?:\s*,\s*label:\s*({STRING}))?\s*\}}")
DATA_PASSAGE = re.compile(r"<(\w+)\b[^>]*?(?<!@)data-passage\s*=\s*(\"[^\"\n]*\"|'[^'\n]*')[^>]*>([^<]*)")
ADDRESS = re.compile(
    r"(https?:|mailto:|ftp:|file:|tel:|javascript:|data:|//|www\.)|^\S+\.(html?|php|pdf|png|jpe?g|gif)$", re.I
)


class Choice(NamedTuple):
    passage: str
    text: Optional[str]
    target: str


class Game(NamedTuple):
    format: str
    bodies: Dict[str, str]
    choices: List[Choice]


def unquote(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.S) if text[:1] in "\"'" else text


def passages(text: str) -> Iterator[Tuple[str, List[str], str]]:
    for part in re.split(r"^::", text.lstrip("\ufeff"), flags=re.M)[1:]:
        line, _, body = part.partition("\n")
        line = re.sub(r"\s*\{[^{]*\}\s*$", "", line)
        match = re.match(r"((?:[^\[\\]|\\.)*)(?:\[([^\]]*)\])?", line)
        assert match is not None
        name = re.sub(r"\\(.)", r"\1", match.group(1).strip())
        yield name, (match.group(2) or "").split(), body.rstrip()


def cleaned(body: str, format: str) -> str:
    """Without comments, code and verbatim text."""
    patterns = [r"<!--.*?-->", r"<style\b.*?</style\s*>"]
    if format in ("sugarcube", ""):
        patterns += [r"/\*.*?\*/", r"/%.*?%/", r"\{\{\{.*?\}\}\}", r"<nowiki>.*?</nowiki>"]
    if format == "sugarcube":
        patterns += [r'""".*?"""']
    if format == "harlowe":
        patterns += [r"(`+)(?:(?!\1).)+?\1"]
    if format == "snowman":
        patterns += [r"/\*.*?\*/"]
    if format == "chapbook":
        patterns += [r"\A.*?^--$", r"^\[(?:note|todo|fixme|n\.b\.|css|note to myself)\b.*?(?=^\[[^\[]|\Z)"]
    return re.sub("|".join(f"(?:{pattern})" for pattern in patterns), " ", body, flags=re.S | re.M | re.I)


def hook(body: str, start: int) -> str:
    """The hook of Harlowe at or after an offset, past further macros."""
    depth = 0
    at = start
    while at < len(body) and body[at] != "[":
        if body[at] == "(":
            while at < len(body):
                depth += {"(": 1, ")": -1}.get(body[at], 0)
                at += 1
                if depth == 0:
                    break
        elif body[at] in " \t\n+" or re.match(r"[\w$-]", body[at]):
            at += 1
        else:
            return ""
    end = at
    while end < len(body):
        depth += {"[": 1, "]": -1}.get(body[end], 0)
        end += 1
        if depth == 0:
            break
    return body[at:end]


def brackets(body: str, format: str) -> Iterator[Tuple[Optional[str], str]]:
    for match in re.finditer(r"\[\[(?!\[)((?:[^\]\n]|\](?![\]\[]))+)\](?:\[[^\n]*?\])?\]", body):
        content = match.group(1).strip()
        if format == "sugarcube":
            first = re.search(r"->|<-|\|", content)
            mark = first.group() if first else ""
        else:
            mark = next((each for each in ("->", "<-", "|") if each in content), "")
        if mark == "<-":
            target, text = content.split("<-", 1)
        elif mark == "->" and format != "sugarcube":
            text, target = content.rsplit("->", 1)
        elif mark:
            text, target = content.split(mark, 1)
        else:
            text = target = content
        yield text.strip(), target.strip()


def in_body(body: str, format: str) -> Iterator[Tuple[Optional[str], str]]:
    yield from brackets(body, format)
    if format in ("sugarcube", ""):
        rest = body
        for match in SUGAR_LINK.finditer(body):
            text = unquote(match.group("text"))
            if match.group("target") and match.group("name") in ("link", "button", "click"):
                yield text, unquote(match.group("target"))
            close = body.find(f"<</{match.group('name')}>>", match.end())
            inside = body[match.end() : close] if close >= 0 else ""
            # Those of a link inside are its own.
            inside = SUGAR_LINK.split(inside)[0]
            for jump in [*SUGAR_GOTO.finditer(inside), *PLAY.finditer(inside)]:
                yield text, unquote(jump.group(1))
            rest = rest.replace(inside, "") if inside else rest
        for jump in [*SUGAR_GOTO.finditer(rest), *PLAY.finditer(rest)]:
            yield None, unquote(jump.group(1))
    if format in ("harlowe", ""):
        for match in HARLOWE_LINK.finditer(body):
            inside = re.sub(r"\[\[[^\]]*\]\]", " ", hook(body, match.end()))
            inside = HARLOWE_LINK.split(inside)[0]
            for jump in HARLOWE_GOTO.finditer(inside):
                yield unquote(match.group(1)), unquote(jump.group(1))
        for match in HARLOWE_LINK_GOTO.finditer(body):
            yield unquote(match.group(1) or match.group(2)), unquote(match.group(2))
        for match in HARLOWE_GOTO.finditer(body):
            yield None, unquote(match.group(1))
    if format in ("chapbook", ""):
        for match in CHAPBOOK_LINK.finditer(body):
            yield (unquote(match.group(2)) if match.group(2) else None), unquote(match.group(1))
    if format in ("snowman", "sugarcube", ""):
        for match in DATA_PASSAGE.finditer(body):
            yield match.group(3).strip() or None, match.group(2)[1:-1]
    if format == "snowman":
        for match in PLAY.finditer(body):
            yield None, unquote(match.group(1))


def is_dynamic(target: str, names: Dict[str, str]) -> bool:
    """Whether a target is an address or an expression, and no name."""
    if target in names:
        return False
    return bool(
        ADDRESS.match(target) or re.search(r"\$\w|^_\w|\(\w+:|<%|^setup\.|^\w[\w.]*\(|^[\"'{]|\{\w", target)
    )


def extract(text: str) -> Game:
    found = list(passages(text))
    data = next((body for name, _, body in found if name == "StoryData"), "")
    match = re.search(r'"format"\s*:\s*"(\w+)', data)
    format = match.group(1).lower() if match else ""
    bodies: Dict[str, str] = {}
    for name, tags, body in found:
        code = {"script", "stylesheet", "widget"} & set(tags)
        if format == "harlowe":
            # They are part of every passage, and none of their own.
            code |= {tag for tag in tags if re.fullmatch("(debug-)?(header|footer|startup)", tag)}
        if not SPECIAL.fullmatch(name) and not code and name not in bodies:
            bodies[name] = body
    choices = []
    for name, body in bodies.items():
        for label, target in in_body(cleaned(body, format), format):
            if target and not is_dynamic(target, bodies):
                choices.append(Choice(name, label, target))
    return Game(format, bodies, choices)


def joined(path: Path) -> str:
    """A game's text: of a file, or of all Twee files below a directory."""
    files = (
        [path]
        if path.is_file()
        else sorted(each for each in path.rglob("*") if each.suffix in (".twee", ".tw") and each.is_file())
    )
    return "\n".join(each.read_bytes().decode("utf-8-sig", "replace") for each in files)


def lost(game: Game, ours: Dict[str, List[Tuple[str, str]]]) -> List[Choice]:
    """The extracted choices that the library does not have: with the text, or for jumps with the target."""
    missing = []
    for choice in game.choices:
        have = ours.get(choice.passage, [])
        targets = [target for _, target in have]
        found = choice.target in targets if choice.text is None else (choice.text, choice.target) in have
        if not found and choice not in missing:
            missing.append(choice)
    return missing


def main() -> None:
    import satchel
    from satchel import stories

    for argument in sys.argv[1:]:
        path = Path(argument)
        text = joined(path)
        game = extract(text)
        source = text.encode()
        story = stories.load(source)
        ours = {}
        for name in game.bodies:
            try:
                ours[name] = [(each.text, each.next_segment_id) for each in story.segment(name).choices]
            except satchel.NotFound:
                print("   no segment:", name)
        missing = lost(game, ours)
        errors = [each for each in stories.check(source).findings if each.severity == "error"]
        print(
            f"{path.name}: {game.format or '?'}, {len(game.bodies)} passages, {len(game.choices)} extracted, "
            f"{story.statistics.choices} choices, {len(missing)} lost, {len(errors)} errors"
        )
        for choice in missing[:20]:
            print("   lost:", choice)
        for error in errors[:20]:
            print(f"   error: {error.line}:{error.column} {error.code}: {error.message}")


if __name__ == "__main__":
    main()

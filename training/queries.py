"""What a person might type to find a piece of text: made from its headings, comments and names.

A query is (type, text). Types ending in `-` were taken out of the text itself: the trainer removes
them there, or finding them would teach nothing.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from vecsearch.embed.builtin.tokens import parts

Query = tuple[str, str]

_SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`\"'(])|\n\s*\n|\n\s*[-*] ")
_COMMENT = re.compile(
    r"/\*+(?P<block>.*?)\*/|(?P<lines>(?:^[ \t]*(?://+|#+(?!include|define|if|end|else|undef|pragma|!|\[)|--+|;;+|%+)[^\n]*\n)+)"
    r"|\"\"\"(?P<doc>.*?)\"\"\"|(?P<tail>(?<=[;{},)\s])(?://|/\*)[^\n]*)", re.S | re.M)
_LEADER = re.compile(r"^[ \t]*(?:\*+|//+!?|#+|--+\|?|;;+|%+)[ \t]?|\*/", re.M)
_NOISE = re.compile(r"(?i)copyright|licen[cs]e|todo|fixme|noqa|pylint|eslint|auto-?generated|spdx|warranty|@author|all rights|redistribut")
_END = re.compile(r"\n\s*\n|\n\s*(?:[@\\:](?:param|arg|return|brief|throws|see)|Args:|Parameters|Returns|>>>|Example)|[.!?](?=\s)")

_GERUND = re.compile(r"^(?P<verb>[A-Za-z]+ing)\b (?P<rest>.+)$")
_VERBS = set("""add adjust allow append apply attach authenticate avoid backup block boot build bypass cache call cancel change
check choose clean clone close combine commit compare compile compress configure connect control convert copy create customize
debug declare define delete deploy detect diff disable discard display download edit embed enable encrypt exclude execute export
extend extract fetch filter find fix fork format generate get grant handle hide host ignore implement import improve include
index inherit initialize insert inspect install integrate list load lock log maintain make manage merge migrate mirror modify
monitor mount move open optimize override parse pass plan prepare prevent print protect publish pull push query read rebase
rebuild recover redirect reduce refresh register release reload remove rename render repair replace report reset resolve
restore restrict resume retrieve return revert review revoke rotate run save schedule search secure select send serve set
share show shrink sign skip sort specify split start stop store switch sync tag test track translate trigger troubleshoot
tune undo uninstall unlock update upgrade upload use validate verify view watch wrap write""".split())
#: Headings that say nothing without the name of their page.
_BARE = set("""description synopsis name keywords example examples see also options parameters notes author authors copyright
category introduction overview usage return value values errors history bugs commands arguments summary abstract
general details background requirements contents files environment diagnostics standards caveats methods""".split())
_HOW = ("How do I {}?", "how to {}", "How can I {}?", "I want to {}", "What is the way to {}?", "Can I {}?", "Is it possible to {}?",
        "I need to {}. What do I do?", "How would one {} here?", "best way to {}")
_WHAT = ("What is {}?", "How does {} work?", "how {} works", "Where is {} described?", "Tell me about {}", "explain {}",
         "What does {} mean?", "{}", "What are the options for {}?", "Why would I use {}?", "problem with {}", "When do I need {}?")
_CODE = ("{}", "how {} works", "{} implementation", "where is {} handled", "{} logic", "how is {} implemented", "{} handling", "code for {}")


def of_section(path: str, title: str, text: str, rng: random.Random) -> list[Query]:
    """Queries for a piece of documentation; `title` is its heading trail."""
    trail = [step.strip() for step in title.split(" > ") if step.strip()]
    page = spoken(re.split(r"[/.]", path)[-2])
    if trail and set(trail[-1].lower().split()) <= _BARE:
        trail = [f"{trail[-2] if len(trail) > 1 else page} {trail[-1].lower()}"]
    found: list[Query] = []
    if trail and 2 < len(trail[-1]) < 120 and re.search(r"[A-Za-z]{3}", trail[-1]):
        found += [("head", trail[-1]), ("ask", question(trail[-1], rng)), ("ask", question(trail[-1], rng))]
        if len(trail) > 1:
            found += [("trail", f"{trail[-2]} {trail[-1]}"), ("ask", question(trail[-1], rng)[:-1] + f" in {trail[-2]}?")]
    if len(page) > 3:
        found.append(("path", question(page, rng)))
    sentences = [s for s in map(tidy, _SENTENCE.split(text)) if good(s, 5, 45)]
    if sentences and len(text) > 350:
        chosen = [sentences[0], *rng.sample(sentences, min(2, len(sentences)))]
        found += [("sentence-", s) for s in dict.fromkeys(chosen)]
    return found


def question(heading: str, rng: random.Random) -> str:
    """A heading as a person would ask it."""
    heading = re.sub(r"^[\d.]+\s+|[.:#]+$", "", heading).strip()
    if heading.endswith("?") or re.match(r"(?i)(how|why|what|when|where|which|who|can|does|is|do|should)\b", heading):
        return heading
    first, _, rest = heading.partition(" ")
    gerund = _GERUND.match(heading)
    if gerund and (verb := infinitive(gerund["verb"].lower())):
        return rng.choice(_HOW).format(f"{verb} {gerund['rest']}")
    if first.lower() in _VERBS and rest:
        return rng.choice(_HOW).format(f"{first.lower()} {rest}")
    return rng.choice(_WHAT).format(heading)


def infinitive(verb: str) -> str:
    """`configuring` -> `configure`; empty when it is no verb we know."""
    stem = verb[:-3]
    for form in (stem, stem + "e", stem[:-1]):
        if form in _VERBS:
            return form
    return ""


def of_code(path: str, symbol: str, names: list[str], text: str, rng: random.Random) -> list[Query]:
    """Queries for a piece of source: its comments, the names it defines, its file."""
    found: list[Query] = []
    remarks = list(comments(text))
    for remark in rng.sample(remarks, min(3, len(remarks))):
        found.append(("comment-", remark))
    for name in names[:3]:
        last = re.split(r"[.:]+", name)[-1]
        phrase = spoken(last)
        if len(phrase) > 3:
            kind = "name-" if " " in phrase else "name"
            found += [(kind, rng.choice(_CODE).format(phrase)), ("symbol", last)]
    phrase = " ".join(spoken(step) for step in re.split(r"[/.]", path)[:-1][-2:])
    if len(phrase) > 3:
        found.append(("path", rng.choice(_CODE).format(phrase)))
    return found


def comments(text: str) -> Iterator[str]:
    for match in _COMMENT.finditer(text):
        body = _LEADER.sub("", next(group for group in match.groups() if group is not None)).strip()
        end = _END.search(body, 25)
        remark = tidy(body[: end.start() + 1] if end else body)[:300]
        if good(remark, 3, 45):
            yield remark


def spoken(name: str) -> str:
    """`add_user2` as words."""
    return " ".join(parts(name))


def tidy(text: str) -> str:
    return " ".join(text.split())


def good(text: str, low: int, high: int) -> bool:
    """Words enough, mostly letters, and no licence."""
    found = re.findall(r"[A-Za-z]{2,}", text)
    return low <= len(found) <= high and sum(map(len, found)) > 0.55 * len(text) and not _NOISE.search(text)

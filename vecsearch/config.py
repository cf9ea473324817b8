"""Settings: one table of names, defaults and help. The rows live in the repository (`fx_vec_config`),
because Fossil empties the environment of an extension; store/ reads and writes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import UsageError


@dataclass(frozen=True, slots=True)
class Setting:
    """A default (whose type is the setting's type; a tuple is a comma-separated list) and its help."""

    default: str | int | tuple[str, ...]
    help: str
    low: int = 0
    high: int = 0
    choices: tuple[str, ...] = ()


SETTINGS: dict[str, Setting] = {
    "branch": Setting("", "Branch to read files from; empty: Fossil's doc-branch and main-branch."),
    "doc-glob": Setting(
        ("*.md", "*.markdown", "*.wiki", "*.txt", "*.rst", "*.adoc", "*.asciidoc", "*.html", "*.htm", "*.[1-9]", "README*"),
        "Files indexed as documentation.",
    ),
    "instruction-glob": Setting(
        ("prompts/*", "agent-docs/*", "AGENTS.md", "CLAUDE.md", "GEMINI.md", "CONVENTIONS.md", ".cursorrules",
         ".cursor/rules/*", ".windsurfrules", ".clinerules*", ".github/copilot-instructions.md", "SKILL.md"),
        "Files indexed as instructions for agents; here case counts, as it does for them.",
    ),
    "media-glob": Setting(("media/*.json",), "Manifests of remote media."),
    "code-glob": Setting((), "More files indexed as code, beside those with a known ending; what no name tells, the content does."),
    "ignore-glob": Setting((), "Files that are never indexed."),
    "max-file-kb": Setting(1024, "Of a larger file only the first so many kilobytes are indexed.", 16, 65536),
    "max-data-chunks": Setting(40, "Chunks kept of a file without any definition, such as a data file.", 1, 100000),
    "chunk-chars": Setting(1400, "Aim for the length of a chunk, in characters.", 200, 8000),
    "publish": Setting(
        "auto", "What goes into unversioned files, which anyone can read: public is what needs no login; auto the same,"
        " unless the files came from another repository.", choices=("auto", "public", "all", "none")),
    "provider": Setting("builtin", "Where embeddings come from.", choices=("builtin", "ollama", "openai", "hash")),
    "provider-url": Setting("", "Base URL of the provider; empty: its usual one."),
    "provider-model": Setting("", "Model asked of the provider; empty: its usual one."),
    "provider-key-file": Setting("", "File outside the repository that holds the provider's API key."),
    "log": Setting("", "Where index runs and failed requests are logged: syslog, or the absolute path of a file; empty: only failed"
                   " requests, to the server's error output."),
    "log-queries": Setting("no", "Whether the log line of a failed request holds what was asked.", choices=("no", "yes")),
}

Settings = Mapping[str, Any]


def default_settings() -> dict[str, Any]:
    """Every setting at its default."""
    return {name: setting.default for name, setting in SETTINGS.items()}


def parse(name: str, text: str) -> str | int | tuple[str, ...]:
    """The value of one setting from its text. Raises UsageError that names what is right."""
    setting = SETTINGS.get(name)
    if setting is None:
        import difflib  # a millisecond that no search needs

        near = difflib.get_close_matches(name, SETTINGS, n=1, cutoff=0.5)
        hint = f'did you mean "{near[0]}"?' if near else "see: vecsearch config"
        raise UsageError(f'there is no setting "{name}"; {hint}')
    if isinstance(setting.default, tuple):
        return tuple(item for item in (part.strip() for part in text.replace("\n", ",").split(",")) if item)
    if isinstance(setting.default, int):
        return _parse_int(name, text, setting)
    if name == "log" and text not in ("", "syslog") and not text.startswith("/"):
        raise UsageError(f'log must be syslog or an absolute path, not "{text}": Fossil runs the page in a folder of its own')
    if setting.choices and text not in setting.choices:
        raise UsageError(f'{name} must be one of {", ".join(setting.choices)}, not "{text}"')
    return text


def _parse_int(name: str, text: str, setting: Setting) -> int:
    try:
        value = int(text)
    except ValueError:
        raise UsageError(f'{name} must be a whole number, not "{text}"') from None
    if not setting.low <= value <= setting.high:
        raise UsageError(f"{name} must be {setting.low} to {setting.high}, not {value}")
    return value


def from_rows(rows: Mapping[str, str]) -> dict[str, Any]:
    """Defaults overridden by stored rows (name -> text). A name that only a newer vecsearch knows is ignored."""
    return default_settings() | {name: parse(name, text) for name, text in rows.items() if name in SETTINGS}

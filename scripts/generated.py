"""Pages of docs/ that a script makes: written, or with --check only compared."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def part(path: Path, name: str, lines: list[str]) -> str:
    """A page of which one part is made: what stands between <!-- made: NAME --> and <!-- end --> is replaced."""
    before, mark, rest = path.read_text().partition(f"<!-- made: {name} -->\n")
    _, end, after = rest.partition("<!-- end -->")
    if not mark or not end:
        raise SystemExit(f"{path.name} has no place for {name}: <!-- made: {name} --> and <!-- end -->")
    return before + mark + "\n".join(lines) + "\n" + end + after


def publish(pages: dict[Path, str], origin: str) -> int:
    """Writes the pages. With --check it names those that are not what origin gives. Returns the script's status."""
    stale = 0
    for path, text in pages.items():
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"docs/{path.name} is not what {origin} gives; run scripts/{Path(sys.argv[0]).name}", file=sys.stderr)
            stale = 1
    return stale

"""Counts what makes the tree easy or hard to read; one line for each figure.

python scripts/count_tree.py
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("opera", "instrumentation", "templates")


def main() -> None:
    files = sorted({path.resolve() for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")})
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    lines = sum(text.count("\n") for text in texts.values())
    names = Counter(node.name for text in texts.values() for node in ast.parse(text).body if isinstance(node, ast.ClassDef))
    public = {name: count for name, count in names.items() if not name.startswith("_")}
    twice = sorted(name for name, count in public.items() if count > 1)
    uses = sum(len(re.findall(r"\bAny\b", text)) - len(re.findall(r"import .*\bAny\b", text)) for text in texts.values())
    print(f"modules          {len(files)}")
    print(f"lines            {lines:,}")
    print(f"Any per 1,000    {1000 * uses / lines:.1f}")
    print(f"fmt: skip        {sum(text.count('# fmt: skip') for text in texts.values())}")
    print(f"names used twice {len(twice)} of {len(public)}: {', '.join(twice)}")
    longest = sorted(((text.count("\n"), path.name) for path, text in texts.items()), reverse=True)[:5]
    print(f"longest modules  {', '.join(f'{name} {count}' for count, name in longest)}")


if __name__ == "__main__":
    main()

"""The recipe: sizes, amounts and the seed, from a TOML file. recipe.toml makes the pair; check.toml is its quick rehearsal."""

import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Recipe:
    seed: int
    tokenizer: dict
    models: dict[str, dict]  # name -> its table, see recipe.toml

    def model(self, name: str) -> dict:
        if name not in self.models:
            raise SystemExit(f"the recipe has no model {name!r}, it has {', '.join(self.models)}")
        return self.models[name]


def load(path: Path) -> Recipe:
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return Recipe(seed=table["seed"], tokenizer=table["tokenizer"], models=table["model"])

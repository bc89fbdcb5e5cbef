"""One call of `inspectd export`: graph, configuration, scores and card into one directory."""

from pathlib import Path

from inspectd.train.card import model_card
from inspectd.train.checkpoint import load_checkpoint
from inspectd.train.evaluate import evaluate_directory
from inspectd.train.export import export_model
from inspectd.train.legacy import legacy_python as find_legacy

__all__ = ["publish"]


def publish(
    checkpoint_file: Path,
    out: Path,
    *,
    is_legacy: bool,
    legacy_python: str | None,
    test: Path | None,
    command: str,
) -> str:
    """Write `out`; answer what was done, for a person.

    Raises:
        UsageFault: checkpoint or test data are wrong, or no Paddle 2.6 can be had.
    """
    checkpoint = load_checkpoint(checkpoint_file)
    export_model(checkpoint, out, find_legacy(legacy_python) if is_legacy else None)
    scores = None
    if test is not None:
        scores = evaluate_directory(out, test), "/".join(test.resolve().parts[-2:])
    size = (out / "model.pdiparams").stat().st_size
    (out / "MODEL_CARD.md").write_text(model_card(checkpoint, command, scores, size))
    names = ", ".join(sorted(path.name for path in out.iterdir()))
    told = f"wrote {out}: {names}"
    return told if scores is None else f"{scores[0].report()}\n{told}"

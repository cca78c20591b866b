"""Train checkpoints/stanza-en with Stanza's own training code, stage by stage.

A finished stage is not repeated, so a killed training can be resumed; Stanza itself resumes the
parser within its stage. Stages: text and labels -> word vectors -> tokenizer -> expander of
multi-word tokens ("don't") -> tags of the training trees -> tagger -> parser -> trees of captions
(`silver`) -> parser on both -> the folder that stanza.Pipeline loads (`pack`).

Departures from Stanza's defaults, all for size and speed: small layers, no lemmas and features,
bfloat16 (`quick`), Adam throughout. The parser is trained on tags that a tagger
predicted for unseen trees (two halves tag each other), because it will get a tagger's output, with
its errors, and not gold tags.
"""

from __future__ import annotations

import shlex
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

from vsdemo.core.paths import write_text
from vsdemo.recipes.parsing import treebank, vectors
from vsdemo.recipes.parsing.pack import pack
from vsdemo.recipes.parsing.score import finish
from vsdemo.recipes.parsing.silver import silver

NAME = ["--lang", "en", "--shorthand", "en_vsdemo", "--seed", "1234"]
EMBEDDINGS = shlex.split("--char_hidden_dim 100 --char_emb_dim 50 --transformed_dim 100")
TAGGER = shlex.split(
    "--hidden_dim 150 --word_cutoff 4 --word_emb_dim 50 --tag_emb_dim 30 --lr 0.003"
    " --deep_biaff_hidden_dim 150 --batch_size 100 --eval_interval 300 --fix_eval_interval"
)
PARSER = shlex.split(
    "--hidden_dim 240 --num_layers 2 --word_cutoff 3 --deep_biaff_hidden_dim 120 --no_ufeats"
    " --batch_size 1500 --optim adam --lr 0.002 --beta2 0.95 --no_second_optim --eval_interval 400"
    " --dropout 0.4 --word_dropout 0.25 --plateau_steps 800 --plateau_decay 0.6"
)


def stanza(module: str, work: Path, *arguments: object) -> Any:
    """Run one of Stanza's training programs in this process; return its trainer, if it has one."""
    from vsdemo.recipes.parsing import quick

    program = import_module(f"stanza.models.{module}")
    with quick.applied():
        result = program.main([*NAME, "--save_dir", str(work), *map(str, arguments)])
    return result[0] if result else None


def prepare(work: Path) -> None:
    """Write each split of EWT as CoNLL-U, raw text and character labels."""
    from stanza.utils.datasets import prepare_tokenizer_data

    for split in ("train", "dev", "test"):
        text = treebank.read(split)
        write_text(work / f"{split}.gold.conllu", text)
        treebank.write(work / f"{split}.conllu", map(treebank.clean, treebank.sentences(text)))
        write_text(work / f"{split}.txt", treebank.plain_text(text))
        files = [work / f"{split}.{end}" for end in ("txt", "gold.conllu", "labels", "mwt.json")]
        raw, gold, labels, expansions = map(str, files)
        prepare_tokenizer_data.main([raw, gold, "-o", labels, "-m", expansions])


def pretrain(work: Path) -> None:
    """Train word vectors; write them as text and in Stanza's own format."""
    from stanza.models.common.pretrain import Pretrain

    vectors.train(work / "vectors.txt")
    Pretrain(str(work / "pretrain.pt"), str(work / "vectors.txt")).load()


def tokenizer(work: Path) -> None:
    """Train the tokenizer, which splits raw text into sentences and tokens."""
    stanza(
        "tokenizer", work, "--save_name", "tokenizer.pt", "--steps", 6000, "--eval_steps", 500,
        "--txt_file", work / "train.txt", "--label_file", work / "train.labels",
        "--dev_txt_file", work / "dev.txt", "--dev_label_file", work / "dev.labels",
        "--dev_conll_gold", work / "dev.gold.conllu", "--mwt_json_file", work / "dev.mwt.json",
    )  # fmt: skip


def expander(work: Path) -> None:
    """Train the expander, which splits multi-word tokens into words."""
    from stanza.utils.datasets.contract_mwt import contract_mwt

    contract_mwt(str(work / "dev.gold.conllu"), str(work / "dev.in.conllu"))
    stanza(
        "mwt_expander", work, "--save_name", "expander.pt", "--num_epoch", 12,
        "--train_file", work / "train.gold.conllu", "--eval_file", work / "dev.in.conllu",
        "--gold_file", work / "dev.gold.conllu",
    )  # fmt: skip


def train_tagger(work: Path, name: str, train: Path, dev: Path, steps: int, *more: object) -> None:
    """Train a tagger for UPOS and XPOS; keep the best one on `dev`."""
    stanza(
        "tagger", work, "--save_name", name, "--train_file", train, "--eval_file", dev,
        "--wordvec_pretrain_file", work / "pretrain.pt", *EMBEDDINGS, *TAGGER,
        "--max_steps", steps, *more,
    )  # fmt: skip


def tag(work: Path, name: str, source: Path, target: Path) -> None:
    """Write `source` with the tags of a trained tagger."""
    stanza(
        "tagger", work, "--save_name", name, "--mode", "predict", "--eval_file", source,
        "--output_file", target, "--wordvec_pretrain_file", work / "pretrain.pt",
    )  # fmt: skip


def jackknife(work: Path) -> None:
    """Write training and dev trees with tags of taggers that were not trained on them."""
    trees = treebank.sentences((work / "train.conllu").read_text(encoding="utf-8"))
    halves = [work / f"half{i}.conllu" for i in (0, 1)]
    for path, half in zip(halves, treebank.halves(trees), strict=True):
        treebank.write(path, half)
    tagged = ""
    for i, (seen, unseen) in enumerate((halves, halves[::-1])):
        train_tagger(work, f"half{i}.pt", seen, unseen, 660, "--eval_interval", 330)
        tag(work, f"half{i}.pt", unseen, work / f"tagged{i}.conllu")
        tagged += (work / f"tagged{i}.conllu").read_text(encoding="utf-8")
    tag(work, "half0.pt", work / "dev.conllu", work / "dev.tagged.conllu")
    write_text(work / "train.tagged.conllu", tagged)


def tagger(work: Path) -> None:
    """Train the shipped tagger on all of EWT."""
    train_tagger(work, "rough.pt", work / "train.conllu", work / "dev.conllu", 1500)


def smaller_steps(work: Path) -> None:
    """Continue to train the tagger with a fifth of the learning rate.

    Stanza never lowers a tagger's learning rate (it creates a second optimizer but keeps using the
    first) and starts from scratch when called again, so its trainer is given the weights.
    """
    from stanza.models import tagger as program

    rough = partial(program.Trainer, model_file=str(work / "rough.pt"))
    with patch.object(program, "Trainer", rough):
        files = work / "train.conllu", work / "dev.conllu"
        train_tagger(work, "tagger.pt", *files, 600, "--lr", 0.0006, "--eval_interval", 150)


def parser(work: Path, steps: int = 3200, *more: object) -> Any:
    """Train the parser on EWT; keep the best one on dev trees with predicted tags."""
    return stanza(
        "parser", work, "--save_name", "parser.pt", "--train_file", work / "train.tagged.conllu",
        "--eval_file", work / "dev.tagged.conllu", "--wordvec_pretrain_file", work / "pretrain.pt",
        *EMBEDDINGS, *PARSER, "--max_steps", steps, "--max_steps_before_stop", steps, *more,
    )  # fmt: skip


def captions(work: Path) -> None:
    """Continue to train the parser: a fifth of silver batches, then averaged small steps."""
    from vsdemo.recipes.parsing import quick

    with quick.averaging() as average:
        trainer = parser(
            work, 6000, "--silver_file", work / "silver.conllu", "--silver_weight", 0.25,
            "--second_optim", "adam", "--second_optim_start_step", 4200, "--second_lr", 0.0006,
            "--plateau_steps", 400,
        )  # fmt: skip
    trainer.model.load_params(average)
    trainer.save(str(work / "averaged.pt"))


STAGES = (
    prepare,
    pretrain,
    tokenizer,
    expander,
    jackknife,
    tagger,
    smaller_steps,
    parser,
    silver,
    captions,
)


def train(out: Path) -> None:
    """Run the remaining stages in the folder `out`.work, then pack and measure the pipeline.

    Raises:
        UserError: If a data set is missing.
    """
    work = out.with_name(f"{out.name}.work")
    work.mkdir(parents=True, exist_ok=True)
    for stage in STAGES:
        done = work / f"{stage.__name__}.done"
        if not done.exists():
            print(f"Stage {stage.__name__}", flush=True)
            stage(work)
            write_text(done, "")
    pack(work, out)
    finish(out, len(treebank.sentences((work / "silver.conllu").read_text(encoding="utf-8"))))

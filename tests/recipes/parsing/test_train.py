import pytest

from vsdemo.recipes.parsing import train


def test_a_killed_training_resumes_at_its_stage(monkeypatch, tmp_path):
    ran, fail = [], [True]

    def first(work):
        ran.append("first")

    def second(work):
        ran.append("second")
        if fail:
            fail.pop()
            raise KeyboardInterrupt
        (work / "silver.conllu").write_text("1\ta\n\n1\tb\n\n")

    monkeypatch.setattr(train, "STAGES", (first, second))
    monkeypatch.setattr(train, "pack", lambda work, out: ran.append("pack"))
    monkeypatch.setattr(train, "finish", lambda out, silver: ran.append(silver))
    with pytest.raises(KeyboardInterrupt):
        train.train(tmp_path / "en")
    train.train(tmp_path / "en")
    assert ran == ["first", "second", "second", "pack", 2]


@pytest.mark.usefixtures("real_data")
def test_the_treebank_is_prepared_with_a_label_per_character(tmp_path):
    train.prepare(tmp_path)
    text = (tmp_path / "dev.txt").read_text(encoding="utf-8")
    labels = (tmp_path / "dev.labels").read_text(encoding="utf-8")
    assert len(text.split("\n\n")) == len(labels.split("\n\n"))
    assert set(labels) <= set("01234\n")
    assert labels.count("2") + labels.count("4") == 2001  # sentences of EWT dev

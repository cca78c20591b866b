import torch

from vsdemo.recipes.parsing.pack import pack_model, portable, small


def test_only_weights_are_stored_in_half_precision():
    state = {
        "a": torch.ones(2),
        "b": [torch.ones(1)],
        "n": torch.ones(1, dtype=torch.long),
        "s": "x",
    }
    packed = small(state)
    assert packed["a"].dtype == packed["b"][0].dtype == torch.float16
    assert packed["n"].dtype == torch.long
    assert packed["s"] == "x"


def test_packed_settings_contain_no_path():
    config = {"train_file": "/home/me/a", "save_dir": "a/x", "hidden_dim": 3, "lang": "en"}
    assert portable(config) == {
        "train_file": None,
        "save_dir": None,
        "hidden_dim": 3,
        "lang": "en",
    }


def test_an_unknown_lemma_gets_the_vector_of_the_empty_lemma(tmp_path):
    weight = torch.arange(10.0).reshape(5, 2)
    state = {
        "config": {"save_dir": "/x"},
        "model": {"lemma_emb.weight": weight},
        "vocab": {"lemma": {"_unit2id": {"_": 4}}},
        "dev_score_history": [1.0],
    }
    torch.save(state, tmp_path / "a.pt")
    pack_model("depparse", tmp_path / "a.pt", tmp_path / "b.pt")
    packed = torch.load(tmp_path / "b.pt", weights_only=True)
    assert packed["model"]["lemma_emb.weight"][1].tolist() == weight[4].tolist()
    assert packed["config"] == {"save_dir": None}
    assert "dev_score_history" not in packed


def test_word_vectors_keep_full_precision(tmp_path):
    torch.save({"emb": torch.ones(2, 3), "vocab": {}}, tmp_path / "a.pt")
    pack_model("pretrain", tmp_path / "a.pt", tmp_path / "b.pt")
    assert torch.load(tmp_path / "b.pt", weights_only=True)["emb"].dtype == torch.float32

"""Similarity of sentences by good and bad models, compared with plain loops."""

import json

import numpy as np
import pytest
import torch

from tests.support import small_pairs
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.pairs import contamination
from vsdemo.data.pairs import sts as pairs_of
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.bow import BagOfWords
from vsdemo.evaluation.task import SentenceData
from vsdemo.evaluation.tasks import sts
from vsdemo.evaluation.text_embeddings import TextEmbeddings, pooled, similarity
from vsdemo.models.scores import SCORES, Cosine, angle_and_order, fragment_alignment

YEARS = ("STS12.MSRvid", "STS12.OnWN", "STS13.headlines")


def all_pairs():
    """Return (pair, score from 0 to 1) of every file."""
    scored = [(p, p.score / 5) for of in pairs_of.load_years().values() for p in of]
    for split in ("train", "dev", "test"):
        scored += [(p, p.score / 5) for p in pairs_of.benchmark(split)]
        scored += [(p, (p.score - 1) / 4) for p in pairs_of.relatedness(split)]
    return scored


def oracle(wrong: float = 0.0):
    """Return a model whose cosine of a pair is its score plus noise of deviation `wrong`."""
    angles, rng = {}, np.random.default_rng(0)
    for pair, score in all_pairs():
        angles[pair.a] = 0.3
        angles[pair.b] = 0.3 + float(np.arccos(np.clip(score + wrong * rng.normal(), -1, 1)))
    return small_pairs.knowing(angles)


def pearson(a, b) -> float:
    n, mean_a, mean_b = len(a), sum(a) / len(a), sum(b) / len(b)
    together = sum((a[i] - mean_a) * (b[i] - mean_b) for i in range(n))
    return together / (sum((x - mean_a) ** 2 for x in a) * sum((x - mean_b) ** 2 for x in b)) ** 0.5


def ranks(values) -> list[float]:
    return [sum(v < x for v in values) + (sum(v == x for v in values) + 1) / 2 for x in values]


def test_an_oracle_has_a_correlation_of_100(pairs_root):
    result = sts.SentenceSimilarity().evaluate(oracle(), SentenceData())
    for name in (*YEARS, "STS12", "STS13", "STS", "STS-B.cosine", "SICK-R.cosine"):
        assert result[name]["pearson"] == pytest.approx(100)
        assert result[name]["spearman"] == pytest.approx(100)
        assert result[name]["ci95"]["pearson"] == [100, 100]
    for name in ("STS-B", "SICK-R"):
        assert result[name]["pearson"] > 97


def test_metrics_equal_plain_loops(pairs_root):
    model = oracle(wrong=0.4)
    result = sts.SentenceSimilarity().evaluate(model, SentenceData())
    years = {*YEARS, "STS12", "STS13", "STS"}
    assert result.keys() == years | {"STS-B", "STS-B.cosine", "SICK-R", "SICK-R.cosine"}
    sets = pairs_of.load_years() | {"STS-B.cosine": pairs_of.benchmark("test")}
    for name, pairs in sets.items():
        u, v = (
            model.encode_text([Sentence(text) for text in texts]).x.tolist()
            for texts in ([p.a for p in pairs], [p.b for p in pairs])
        )
        predicted = [a[0] * b[0] + a[1] * b[1] for a, b in zip(u, v, strict=True)]
        gold = [pair.score for pair in pairs]
        assert result[name]["pearson"] == pytest.approx(100 * pearson(predicted, gold), rel=1e-4)
        rank = pearson(ranks(predicted), ranks(gold))
        assert result[name]["spearman"] == pytest.approx(100 * rank, rel=1e-4)
        low, high = result[name]["ci95"]["pearson"]
        assert low < result[name]["pearson"] < high
        assert (result[name]["n"], result[name]["n_unknown"]) == (len(pairs), 0)
    for year, names in (("STS12", YEARS[:2]), ("STS13", YEARS[2:]), ("STS", YEARS)):
        for kind in ("pearson", "spearman"):
            mean = sum(result[name][kind] for name in names) / len(names)
            assert result[year][kind] == pytest.approx(mean)
        assert result[year]["n"] == sum(result[name]["n"] for name in names)
    assert json.loads(json.dumps(result)) == result
    assert sts.SentenceSimilarity().evaluate(model, SentenceData()) == result  # deterministic


def test_dev_has_the_sets_with_a_dev_split_only(pairs_root):
    result = sts.SentenceSimilarity().evaluate(oracle(), SentenceData("dev"))
    assert result.keys() == {"STS-B", "STS-B.cosine", "SICK-R", "SICK-R.cosine"}
    for split in ("train", "all"):
        with pytest.raises(UserError, match=f"on dev or test, not on {split}"):
            sts.SentenceSimilarity().evaluate(oracle(), SentenceData(split))


def test_dev_data_are_available_only_with_all_files(pairs_root, tmp_path, monkeypatch):
    assert sts.has_dev_data()
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path / "empty"))
    assert not sts.has_dev_data()


def test_a_users_folder_is_evaluated_too(pairs_root, tmp_path):
    own = tmp_path / "own" / "STS16-en-test"
    small_pairs.write_year(own, plagiarism=12)
    angles = dict.fromkeys((t for p, _ in all_pairs() for t in (p.a, p.b)), 0.0)
    for pair in pairs_of.load_years(own)["STS16.plagiarism"]:
        angles |= {pair.a: 0.0, pair.b: float(np.arccos(pair.score / 5))}
    result = sts.SentenceSimilarity(sts_dir=own).evaluate(
        small_pairs.knowing(angles), SentenceData()
    )
    assert result["STS16.plagiarism"]["pearson"] == pytest.approx(100)
    assert result["STS12.MSRvid"]["pearson"] == 0  # all embeddings are equal
    assert result["STS"]["pearson"] == pytest.approx(25)


def test_similarity_of_sets_equals_plain_loops():
    torch.manual_seed(0)
    masks = torch.tensor([[1, 1, 1], [1, 0, 0], [0, 0, 0]]), torch.tensor([[1, 0], [1, 1], [1, 1]])
    first, second = (
        Embeddings(torch.randn(*mask.shape, 4) * mask[..., None], mask.bool()) for mask in masks
    )

    def covered(parts, others):
        best = [max(float(torch.cosine_similarity(p, o, dim=0)) for o in others) for p in parts]
        weights = [float(part.norm()) for part in parts]
        return sum(b * w for b, w in zip(best, weights, strict=True)) / sum(weights)

    result = similarity(first, second, SCORES["cosine"])
    for row in range(2):
        a, b = first.x[row][first.mask[row]], second.x[row][second.mask[row]]
        assert result[row] == pytest.approx((covered(a, b) + covered(b, a)) / 2, abs=1e-6)
    assert result[2] == 0  # nothing to compare
    torch.testing.assert_close(similarity(second, first, SCORES["cosine"]), result)
    same = similarity(first, first, SCORES["cosine"])
    torch.testing.assert_close(same, torch.tensor([1.0, 1.0, 0.0]))


def test_denied_words_point_the_other_way():
    """The number that says whether a word is denied makes no two words similar."""
    score = fragment_alignment(smoothing=0.0, best_region=True, signed=True)
    mask = torch.ones(1, 1, dtype=torch.bool)
    cat, no_cat, car = (
        Embeddings(torch.tensor([[word]]), mask)
        for word in ([1.0, 0.0, 1.0], [1.0, 0.0, -1.0], [0.0, 1.0, 1.0])
    )
    assert similarity(cat, cat, score).item() == pytest.approx(1)
    assert similarity(cat, no_cat, score).item() == pytest.approx(-1)
    assert similarity(cat, car, score).item() == pytest.approx(0)
    assert pooled(no_cat, score).tolist() == [[-1.0, 0.0]]


def test_similarity_of_vectors_is_the_cosine_of_their_angle_parts():
    a, b = Embeddings(torch.randn(5, 4)), Embeddings(torch.randn(5, 4))
    expected = torch.cosine_similarity(a.x[:, :3], b.x[:, :3])
    result = similarity(a, b, angle_and_order(3, weight=1.0))
    torch.testing.assert_close(result, expected)


def test_pooled_is_the_mean_of_a_set():
    x = torch.tensor([[[1.0, 2], [3, 4]], [[5, 6], [9, 9]], [[7, 7], [7, 7]]])
    mask = torch.tensor([[True, True], [True, False], [False, False]])
    cosine = SCORES["cosine"]
    assert pooled(Embeddings(x, mask), cosine).tolist() == [[2, 3], [5, 6], [0, 0]]
    assert torch.equal(pooled(Embeddings(x[:, 0]), cosine), x[:, 0])
    assert torch.equal(pooled(Embeddings(x[:, 0]), angle_and_order(1, weight=0.0)), x[:, 0, :1])


@pytest.fixture
def word_model():
    """A bag of words with a vocabulary of four words."""
    torch.manual_seed(0)
    vocab = Vocab.build([Sentence("a dog runs fast")])
    text = BagOfWords(vocab, word_dim=4, dim=4).eval()
    model = small_pairs.knowing({}, Cosine())
    model.text = text
    model.encode_text = lambda s: text(text.collate(text.prepare(list(s))))
    return model


def test_sentences_of_unknown_words_are_counted(word_model):
    sentences = ["a dog runs", "qwerty uiop", "!?", "a dog runs", "a cat"]
    with torch.inference_mode():
        texts = TextEmbeddings(word_model, sentences)
        embeddings = texts.of(sentences)
    assert texts.count_unknown(sentences) == 2
    assert torch.equal(embeddings.x[0], embeddings.x[3])
    assert torch.isfinite(embeddings.x).all()


def test_damaged_weights_are_a_user_error(word_model):
    word_model.encode_text = lambda s: Embeddings(torch.full((len(s), 2), torch.nan))
    with pytest.raises(UserError, match="are NaN"):
        TextEmbeddings(word_model, ["a dog"])


@pytest.mark.usefixtures("fake_parser")
@pytest.mark.parametrize("preset", ["sdt_rnn", "fragments", "ct_rnn", "bow"])
def test_encoders_over_trees_and_fragments_are_evaluated(pairs_root, preset, monkeypatch):
    from vsdemo import models
    from vsdemo.core import config
    from vsdemo.data.text.sentences import add_trees

    name, configuration = models.preset(preset)
    configuration = config.override(configuration, ["dim=8", "word_dim=6", "min_count=1"])
    sentences = add_trees([Sentence("a first one"), Sentence("second 3")], configuration.needs)
    model = models.build(name, configuration, Vocab.build(sentences), 12).eval()
    result = sts.SentenceSimilarity().evaluate(model, SentenceData())
    assert {"STS-B", "SICK-R", *YEARS} <= result.keys()
    assert all(-100 <= metrics["pearson"] <= 100 for metrics in result.values())


def test_pairs_that_the_model_has_read_are_left_out_of_clean_sets(pairs_root, monkeypatch):
    monkeypatch.setattr(contamination, "SMALLEST", 2)
    model = oracle(wrong=0.4)
    pairs = pairs_of.benchmark("test")
    read = {pairs[0].a, pairs[1].b, pairs[1].a}
    seen = contamination.normalized_all(text.upper() + " !" for text in read)
    result = sts.SentenceSimilarity().evaluate(model, SentenceData(seen=seen))
    left = [pair for pair in pairs if not read & {pair.a, pair.b}]
    assert 0 < len(left) < len(pairs)
    assert result["STS-B.clean"]["n"] == result["STS-B.cosine.clean"]["n"] == len(left)
    texts = TextEmbeddings(model, [text for pair in left for text in (pair.a, pair.b)])
    cosines = similarity(
        texts.of([pair.a for pair in left]), texts.of([pair.b for pair in left]), texts.score
    )
    expected = pearson(cosines.tolist(), [pair.score for pair in left])
    assert result["STS-B.cosine.clean"]["pearson"] == pytest.approx(100 * expected, rel=1e-4)
    assert result["STS-B"]["n"] == len(pairs)
    assert "STS12.OnWN.clean" not in result

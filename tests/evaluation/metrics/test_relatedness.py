"""Correlations compared with scipy, and the score classifier with plain loops."""

import numpy as np
import pytest
import torch
from scipy.stats import pearsonr, spearmanr

from vsdemo.evaluation.metrics import correlation, relatedness


def test_correlations_of_resamples_equal_those_of_scipy():
    rng = np.random.default_rng(1)
    gold = {name: rng.integers(0, 6, n) / 1.0 for name, n in (("a", 40), ("b", 25))}
    predicted = {
        name: np.round(values + rng.normal(size=len(values)), 1) for name, values in gold.items()
    }
    result = correlation.Correlations.of(predicted, gold, {"both": ("a", "b")})
    assert len(result) == result.size("both") == 65
    for drawn in (None, rng.integers(0, 65, 65), rng.integers(0, 65, 20)):
        metrics = result.metrics(drawn)
        for name, start, n in (("a", 0, 40), ("b", 40, 25)):
            numbers = np.arange(65) if drawn is None else drawn
            own = numbers[(numbers >= start) & (numbers < start + n)] - start
            pair = predicted[name][own], gold[name][own]
            assert metrics[name]["pearson"] == pytest.approx(100 * pearsonr(*pair).statistic)
            assert metrics[name]["spearman"] == pytest.approx(100 * spearmanr(*pair).statistic)
        mean = (metrics["a"]["pearson"] + metrics["b"]["pearson"]) / 2
        assert metrics["both"]["pearson"] == pytest.approx(mean)
    assert result.metrics(np.array([3, 3]))["b"] == result.metrics()["b"]  # no pair of b is drawn
    # Two equal pairs have no correlation.
    assert result.metrics(np.array([3, 3]))["a"]["pearson"] == 0


def test_mixtures_split_a_score_between_neighbouring_numbers():
    scores = torch.tensor([0.0, 2.3, 5.0, 4.5])
    mixtures = relatedness.mixtures(scores, range(6)).tolist()
    expected = [[0.0] * 6 for _ in range(4)]
    expected[0][0] = 1.0
    expected[1][2:4] = [0.7, 0.3]
    expected[2][5] = 1.0
    expected[3][4:] = [0.5, 0.5]
    for row, expected_row in zip(mixtures, expected, strict=True):
        assert row == pytest.approx(expected_row, abs=1e-6)
    torch.testing.assert_close(relatedness.mixtures(scores, range(6)) @ torch.arange(6.0), scores)


def test_the_classifier_reaches_its_optimum():
    torch.manual_seed(0)
    u, v, scores = torch.randn(50, 4), torch.randn(50, 4), 1 + 4 * torch.rand(50)
    features = relatedness.pair_features(u, v)
    for row, a, b in zip(features.tolist(), u.tolist(), v.tolist(), strict=True):
        differences = [abs(x - y) for x, y in zip(a, b, strict=True)]
        products = [x * y for x, y in zip(a, b, strict=True)]
        assert row == pytest.approx(differences + products)
    classifier = relatedness.Classifier(features, scores, range(1, 6))
    classifier.fit(0.1)
    weight, bias = (
        w.detach().clone().requires_grad_() for w in (classifier.weight, classifier.bias)
    )
    x = (features - features.mean(0)) / features.std(0)
    share = (x @ weight.T + bias).softmax(1)
    target = relatedness.mixtures(scores, range(1, 6))
    loss = -(target * share.log()).sum() / 50 + 0.05 * weight.square().sum()
    loss.backward()
    assert weight.grad.abs().max() < 1e-3
    assert bias.grad.abs().max() < 1e-3
    expected = sum((k + 1) * share[:, k] for k in range(5))
    torch.testing.assert_close(classifier.predict(features), expected, atol=1e-4, rtol=0)


def test_the_strength_is_chosen_on_dev():
    torch.manual_seed(0)
    parts = [(torch.randn(30, 8), 5 * torch.rand(30)) for _ in range(2)]
    features = torch.randn(7, 8)
    predictions = []
    agreements = iter([0.1, 0.4, 0.3])

    def agreement(predicted, scores):
        predictions.append(predicted)
        assert torch.equal(scores, parts[1][1])
        return next(agreements)

    predicted = relatedness.predict_best(*parts, features, range(6), agreement)
    assert len(predictions) == 3  # the third is worse than the second
    classifier = relatedness.Classifier(*parts[0], range(6))
    for strength in relatedness.STRENGTHS[:2]:
        classifier.fit(strength)
    assert torch.equal(predicted, classifier.predict(features))


def test_constant_features_give_finite_predictions():
    features, scores = torch.zeros(10, 3), torch.arange(10) / 2
    part = (features, scores)
    predicted = relatedness.predict_best(part, part, features, range(6), lambda *_: 0.0)
    assert torch.isfinite(predicted).all()

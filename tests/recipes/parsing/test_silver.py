import pytest

from vsdemo.recipes.parsing.silver import balanced, repair


def rows(text: str) -> list[list[str]]:
    """Return the rows of a text with word/XPOS/head/label for each word."""
    upos = {
        "NNS": "NOUN",
        "NN": "NOUN",
        "PRP": "PRON",
        "IN": "ADP",
        ".": "PUNCT",
        "DT": "DET",
        "RB": "ADV",
    }
    result = []
    for i, part in enumerate(text.split(), 1):
        word, xpos, head, label = part.split("/")
        tag = upos.get(xpos, "AUX" if label.startswith("aux") else "VERB")
        result.append([str(i), word, "_", tag, xpos, "_", head, label, "_", "_"])
    return result


def tree(rows) -> str:
    return " ".join(f"{row[1]}/{row[6]}/{row[7]}" for row in rows)


def test_a_bare_participle_becomes_a_clause_of_its_noun():
    wrong = rows(
        "two/CD/2/nummod dogs/NNS/3/nsubj playing/VBG/0/root in/IN/5/case snow/NN/3/obl ././3/punct"
    )
    assert tree(repair(wrong)) == (
        "two/2/nummod dogs/0/root playing/2/acl in/5/case snow/3/obl ./2/punct"
    )


def test_a_passive_participle_becomes_a_clause_of_its_noun():
    wrong = rows("boy/NN/2/nsubj:pass dressed/VBN/0/root in/IN/4/case red/NN/2/obl")
    assert tree(repair(wrong)) == "boy/0/root dressed/1/acl in/4/case red/2/obl"


@pytest.mark.parametrize(
    "text",
    [
        "dogs/NNS/3/nsubj are/VBP/3/aux playing/VBG/0/root",
        "dogs/NNS/2/nsubj play/VBP/0/root",
        "dogs/NNS/0/root in/IN/3/case snow/NN/1/nmod",
        "dogs/NNS/0/root that/WDT/3/nsubj play/VBP/1/acl:relcl",
    ],
)
def test_a_correct_tree_is_not_changed(text):
    assert tree(repair(rows(text))) == tree(rows(text))


@pytest.mark.parametrize(
    "text",
    [
        "dogs/NNS/0/root play/VBP/1/acl in/IN/4/case snow/NN/2/obl",
        "playing/VBG/0/root in/IN/3/case snow/NN/1/obl",
        "man/NN/2/nsubj riding/VBG/0/root and/CC/4/cc waves/VBZ/2/conj",
        "quickly/RB/0/root",
    ],
)
def test_a_doubtful_tree_is_left_out(text):
    assert repair(rows(text)) is None


def test_nominal_and_other_roots_are_balanced():
    noun, verb = rows("dogs/NNS/0/root"), rows("run/VB/0/root")
    assert sorted(tree(t) for t in balanced([noun, verb, verb, verb, noun])) == (
        ["dogs/0/root"] * 2 + ["run/0/root"] * 2
    )

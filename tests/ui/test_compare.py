"""The tab Compare: its callbacks, its HTML and its page."""

import json
import re
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
from playwright.sync_api import Route, expect

from tests.support.pages import last, shown, tab_of, text
from tests.support.pages import visit as visit_of
from vsdemo.core.sentences import BinaryTree
from vsdemo.evaluation.metrics.proportion import wilson
from vsdemo.ui import callbacks
from vsdemo.ui.compare.state import ROWS, CompareState
from vsdemo.ui.compare.tab import CompareTab
from vsdemo.ui.compare.view import NEITHER, phrases
from vsdemo.ui.compare.votes import Votes
from vsdemo.ui.tabs import is_shown

TEXT, OTHER = "a red circle", "a blue circle"
HANDLED = json.dumps([10**9, TEXT])  # the page has filled in every text
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def tab(several, monkeypatch):
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(several))
    monkeypatch.setattr(callbacks.gr, "Warning", lambda *_, **__: None)
    return tab_of(CompareTab)


def opened(tab, text=TEXT, *, photo=None, is_blind=False, model="gru", **other):
    """Return what is on the page after a visit."""
    other = {"with": "order", **other}
    visit = visit_of(model, "toy-test", text, photo, **other)
    return shown(tab, visit, None, is_blind)


def shown_updates(tab, text):
    """Return the updates of a visit one by one."""
    return tab.show(visit_of("gru", "toy-test", text, **{"with": "order"}), None, False)


def clicked(number):
    return SimpleNamespace(_data={"number": number})


def items(html):
    """Return the numbers of the results of each ranking."""
    rankings = re.findall(r'<section class="ranking".*?</section>', html, re.S)
    return [[int(n) for n in re.findall(r'<li data-item="(\d+)"', part)] for part in rankings]


def test_each_model_has_its_results_and_lines_join_the_same_photos(tab):
    update = opened(tab)
    gru, order = items(update[tab.results])
    assert len(gru) == len(order) == ROWS
    engines = [tab.library.engine(name, "toy-test").result() for name in ("gru", "order")]
    assert [gru, order] == [[hit.number for hit in e.search(TEXT, ROWS)] for e in engines]
    lines = [int(n) for n in re.findall(r'<path [^>]*data-item="(\d+)"', update[tab.results])]
    assert lines == [number for number in gru if number in order]
    assert f"{len(lines)} of their first {ROWS} photos in common" in text(update[tab.results])
    state = update[tab.state]
    assert state.address["with"] == "order"
    again = shown(tab, visit_of("gru", "toy-test", TEXT, **{"with": "order"}), state, False)
    assert tab.results not in again


@pytest.mark.parametrize("query", [TEXT, ""])
def test_a_choice_while_the_tab_opens_does_not_end_the_comparison(tab, query):
    updates = shown_updates(tab, query)
    state = next(update for update in updates if tab.state in update)[tab.state]
    updates.close()
    assert state.result is None
    assert not is_shown(visit_of("gru", "toy-test", query, **{"with": "order"}), state)
    update = last(tab, tab.run, "", "", "", ["order"], True, state)
    assert update[tab.state].is_blind
    assert json.loads(update[tab.late_text.late])[1] == update[tab.state].text
    assert len(items(update[tab.results])) == 2
    if query:
        assert update[tab.state].text == query


def test_names_are_hidden_although_the_page_has_not_filled_its_field_yet(tab):
    state = opened(tab)[tab.state]
    update = last(tab, tab.run, "", "", "", ["order"], True, state)
    assert update[tab.state].is_blind
    assert update[tab.state].text == TEXT
    earlier = json.dumps([state.late - 1, "one blue bar"])
    assert last(tab, tab.run, "", earlier, "", ["order"], True, state)[tab.state].is_blind


def test_a_field_that_a_visitor_has_emptied_is_a_problem(tab):
    state = opened(tab, "", photo=2)[tab.state]
    handled = json.dumps([state.late, ""])
    typed = last(tab, tab.run, TEXT, handled, "", ["order"], False, state)[tab.state]
    assert typed.text == TEXT
    update = last(tab, tab.run, "", handled, "", ["order"], False, typed)
    assert 'role="alert"' in update[tab.note]
    assert tab.results not in update


def test_a_choice_while_the_tab_opens_again_does_not_end_the_comparison(tab):
    state = last(tab, tab.compare_sentences, opened(tab)[tab.state])[tab.state]
    handled = json.dumps([state.late, TEXT])
    updates = tab.show(visit_of("gru", "toy-test", ""), state, False)
    state = next(update for update in updates if tab.state in update)[tab.state]
    updates.close()
    assert not state.text
    update = last(tab, tab.run, "", handled, "", ["order"], True, state)
    assert update[tab.state].is_blind
    assert update[tab.state].text


def test_the_photo_shown_large_has_a_place_in_each_ranking(tab):
    update = opened(tab)
    first = items(update[tab.results])[0][0]
    assert text(update[tab.detail]).count(" of 8") == 2
    assert "1 of 8" in text(update[tab.detail])
    chosen = last(tab, tab.choose, update[tab.state], clicked((first + 1) % 8))
    assert f"photo/{tab.library.galleries['toy-test'].token}/{(first + 1) % 8}/large" in str(
        chosen[tab.detail]
    )
    assert chosen[tab.results].count('aria-current="true"') >= 1
    assert items(chosen[tab.results]) == items(update[tab.results])
    assert chosen[tab.state].address["photo"] == str((first + 1) % 8)


def test_two_sentences_are_compared_by_each_model(tab):
    update = opened(tab, second=OTHER)
    assert len(items(update[tab.results])) == 4
    assert text(update[tab.results]).count("similarity") == 2
    assert update[tab.detail] == ""
    same = opened(tab, second=TEXT)
    assert text(same[tab.results]).count("The same photos in the same order") == 2
    unknown = opened(tab, second="xyzzy")
    assert "knows no word" in text(unknown[tab.results])


def test_sentences_of_a_photo_are_compared(tab):
    update = opened(tab, "", photo=2)
    assert all(len(column) == ROWS for column in items(update[tab.results]))
    assert "sentences in common" in text(update[tab.results])
    state = update[tab.state]
    assert (state.text, state.photo) == ("", 2)
    assert state.address["photo"] == "2"
    from_detail = last(tab, tab.compare_sentences, replace(opened(tab)[tab.state], chosen=2))
    assert items(from_detail[tab.results]) == items(update[tab.results])
    number = items(update[tab.results])[0][0]
    way = last(tab, tab.search_sentence, state, clicked(number))
    assert way[tab.context.selection].text


def test_models_are_chosen_and_the_first_is_that_of_the_page(tab):
    state = opened(tab)[tab.state]
    update = last(tab, tab.run, TEXT, HANDLED, "", ["char_gru", "order"], False, state)
    assert update[tab.state].models == ("gru", "char_gru", "order")
    other = shown(tab, visit_of("order", "toy-test", TEXT), update[tab.state], False)
    assert other[tab.state].models[0] == "order"
    assert len(set(other[tab.state].models)) == len(other[tab.state].models) > 1
    for others in ([], ["gru"], None):
        problem = last(tab, tab.run, TEXT, HANDLED, "", others, False, state)
        assert "Choose at least one other model" in text(problem[tab.note])
        assert tab.results not in problem


@pytest.mark.parametrize(("second", "photo"), [("", None), (OTHER, None), ("", 3)])
def test_a_damaged_model_has_the_reason_in_place_of_results(tab, second, photo):
    names = {"with": "broken,order", "second": second}
    update = opened(tab, "" if photo else TEXT, photo=photo, **names)
    assert update[tab.state].models == ("gru", "broken", "order")
    columns = 2 if second else 1
    assert update[tab.results].count('class="problem"') == columns
    assert "damaged" in text(update[tab.results])
    rows = items(update[tab.results])
    assert [bool(row) for row in rows] == [
        has_results for has_results in (True, False, True) for _ in range(columns)
    ]


def test_after_a_failed_visit_the_next_comparison_is_of_its_gallery_and_model(tab):
    state = opened(tab)[tab.state]
    bad = visit_of("order", "toy-test", "a\x00b")
    failed = shown(tab, bad, state, False)
    assert "sentence" in text(failed[tab.note])
    update = last(tab, tab.run, TEXT, HANDLED, "", ["gru"], False, failed[tab.state])
    assert update[tab.state].models == ("order", "gru")
    assert update[tab.results]


@pytest.mark.parametrize("photo", [None, 5])
def test_the_second_sentence_is_kept_while_the_first_stays(tab, photo):
    state = opened(tab, second=OTHER)[tab.state]
    other = shown(tab, visit_of("gru", "toy-test", TEXT, photo), state, False)  # from Search
    assert other[tab.state].second == OTHER
    gallery = next(key for key in tab.library.galleries if key != "toy-test")
    other = shown(tab, visit_of("gru", gallery, TEXT), state, False)
    assert other[tab.state].second == OTHER
    other = shown(tab, visit_of("gru", "toy-test", "a green bar"), state, False)
    assert other[tab.state].second == ""


@pytest.mark.parametrize("bad", ["", "  ", "a\x00b", "a" * 10_000])
def test_bad_sentences_change_nothing(tab, bad):
    state = opened(tab)[tab.state]
    update = last(tab, tab.run, bad, HANDLED, "", ["order"], False, state)
    assert "sentence" in text(update[tab.note])
    assert tab.results not in update


def test_hidden_models_have_letters_until_the_vote(tab):
    update = opened(tab, is_blind=True)
    state, html = update[tab.state], update[tab.results]
    assert sorted(state.order) == ["gru", "order"]
    assert not re.search(r"\b(gru|order|cosine|Vendrov|Kiros)\b", text(html))
    assert "score-bar" not in html
    assert state.call is None
    by_letter = dict(zip(state.order, items(html), strict=True))
    engine = tab.library.engine("order", "toy-test").result()
    assert by_letter["order"] == [hit.number for hit in engine.search(TEXT, ROWS)]
    voted = last(tab, tab.vote, {}, state, clicked(1))
    winner = state.order[1]
    assert voted[tab.kept] == {winner: [1, 1], state.order[0]: [0, 1]}
    assert f"Your vote: {winner}" in text(voted[tab.note])
    assert voted[tab.state].order == ()
    assert "1 of 1" in text(voted[tab.votes])
    assert last(tab, tab.vote, {}, voted[tab.state], clicked(0)).get(tab.kept) is None  # once


def test_hidden_models_are_voted_for_with_two_sentences_too(tab):
    update = opened(tab, TEXT, is_blind=True, second="one blue bar")
    state, html = update[tab.state], update[tab.results]
    assert not re.search(r"\b(gru|order|Vendrov|Kiros)\b", text(html))
    assert text(html).count("answers best") == 2
    voted = last(tab, tab.vote, {}, state, clicked(0))
    assert voted[tab.kept] == {state.order[0]: [1, 1], state.order[1]: [0, 1]}
    assert state.order[0] in text(voted[tab.results])


def test_phrases_within_phrases_have_their_own_lines():
    html = phrases(BinaryTree(("a", "dog", "runs"), ((0, 1), (3, 2)), ""))
    assert 'aria-label="[[a dog] runs]"' in html
    assert text(html).split() == ["a", "dog", "runs"]
    assert html.count('class="within"') == 2


def test_nobody_wins_a_vote_for_none():
    votes = Votes.read({}).add(["a", "b"], "a").add(["a", "b"], None).add(["a", "c"], "c")
    assert votes.record() == {"a": [1, 3], "b": [0, 2], "c": [1, 1]}
    assert Votes.read(votes.record()) == votes
    low, high = wilson(1, 3)
    assert f"{low:.0%} and {high:.0%}" in votes.figure()
    assert Votes({}, {}).figure() == ""


@pytest.mark.parametrize("kept", [None, [], "x", {"a": 1}, {"a": [2, 1]}, {"a": ["x", 1]}])
def test_damaged_votes_are_left_out(kept):
    assert Votes.read(kept).record() == {}


def test_an_unknown_column_cannot_be_voted_for(tab):
    state = opened(tab, is_blind=True)[tab.state]
    update = last(tab, tab.vote, {}, state, clicked(NEITHER + 1))
    assert tab.kept not in update
    none = last(tab, tab.vote, {}, state, clicked(NEITHER))
    assert {row[0] for row in none[tab.kept].values()} == {0}


def test_the_table_leads_to_an_example(tab):
    state = opened(tab)[tab.state]
    panel = tab.figures
    table = last(tab, panel.unfold, state, None)[panel.content]
    assert "37.9" in table  # the paper's R@1 of `order`
    names = re.findall(r'<th scope="row"[^>]*>([^<]*)<', table)
    row = names.index("char_gru")
    update = last(tab, tab.show_example, state, clicked(2 * row + 1))  # it loses
    if tab.results in update:
        assert update[tab.state].models == ("gru", "char_gru")
        first = items(update[tab.results])[0][0]
        gallery = tab.library.galleries["toy-test"]
        captions = tab.library.photos("toy-test").result().own_captions(first)
        assert update[tab.query] in captions
        assert gallery.key == "toy-test"
    else:
        assert "None of" in text(update[tab.note])


def test_texts_are_escaped(tab):
    html = opened(tab, "a red <b>circle</b>")[tab.results]
    assert "<b>circle" not in html


def test_models_are_hidden_in_a_random_order():
    state = CompareState(TEXT, "a", "g", ("b", "c", "d"))
    orders = {state.hide_models().order for _ in range(200)}
    assert len(orders) > 12
    assert all(sorted(order) == ["a", "b", "c", "d"] for order in orders)


@pytest.mark.parametrize("viewport", [None, PHONE], ids=["desktop", "phone"])
def test_a_visitor_compares_models_and_votes(visit, viewport):
    path = "?tab=compare&q=a+red+circle&with=order"
    page = visit(path=path, viewport=viewport, is_new=True) if viewport else visit(path=path)
    rankings = page.locator("#compare-results .ranking")
    expect(rankings).to_have_count(2)
    expect(rankings.first.locator("li")).to_have_count(ROWS)
    page.get_by_label("Second sentence").fill(OTHER)
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(rankings).to_have_count(4)
    expect(page).to_have_url(re.compile(r"second=a\+blue\+circle"))
    page.go_back()
    expect(rankings).to_have_count(2)
    page.get_by_label("Hide the names, and vote").check()
    expect(page.get_by_role("heading", name="A", exact=True)).to_be_visible()
    page.get_by_role("button", name="A fits best").click()
    expect(page.get_by_text("Your vote:")).to_be_visible()
    expect(page.locator("#compare-votes li")).to_have_count(2)
    later = page.context.new_page()
    later.goto(page.url.replace("tab=compare", "tab=search"))
    later.get_by_role("tab", name="Compare").click()
    votes = later.locator("#compare-votes li")
    expect(votes).to_have_count(2)
    later.get_by_role("button", name="Forget the votes").click()
    expect(votes).to_have_count(0)
    later.close()


@pytest.mark.parametrize(
    ("tab", "field"), [("compare", "#compare-query"), ("hierarchy", "#hierarchy-query")]
)
def test_an_example_is_filled_in(visit, tab, field):
    page = visit(path=f"?tab={tab}&model=order")
    expect(page.locator(field).locator("input, textarea")).to_have_value(re.compile("."))


def test_a_visitor_types_while_models_load(visit, monkeypatch):
    wait = CompareTab._with_example

    def slow(tab, state):
        time.sleep(2)
        return (yield from wait(tab, state))

    monkeypatch.setattr(CompareTab, "_with_example", slow)
    page = visit(path="?tab=compare", is_new=True)
    field = page.locator("#compare-query").locator("input, textarea")
    expect(field).to_be_empty()
    field.fill("a red square")
    expect(page.locator("#compare-results .ranking").first).to_be_visible()
    page.wait_for_timeout(500)
    expect(field).to_have_value("a red square")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page).to_have_url(re.compile(r"q=a\+red\+square"))


def test_a_late_request_does_not_remove_a_vote_from_the_page(visit):
    page = visit(path="?tab=compare&q=a+red+circle&with=order", is_new=True)
    page.get_by_label("Hide the names, and vote").check()
    expect(page.get_by_role("heading", name="A", exact=True)).to_be_visible()
    without_votes: list[Route] = []

    def delay(route: Route) -> None:
        if route.request.post_data_json["data"] == [{}]:
            without_votes.append(route)
        else:
            route.continue_()

    page.route("**/queue/join*", delay)
    page.get_by_role("button", name="A fits best").click()
    expect(page.get_by_text("Your vote:")).to_be_visible()
    page.wait_for_timeout(1000)
    for route in without_votes:
        route.continue_()
    page.wait_for_timeout(1000)
    expect(page.locator("#compare-votes li")).to_have_count(2)


def test_the_same_photo_is_marked_in_every_column(visit):
    page = visit(path="?tab=compare&q=a+red+circle&with=order")
    shared = page.locator("#compare-results .links path").first
    expect(page.locator("#compare-results .ranking")).to_have_count(2)
    number = shared.get_attribute("data-item")
    page.locator(f'#compare-results li[data-item="{number}"] button').first.focus()
    expect(page.locator("#compare-results li.same")).to_have_count(2)
    expect(page.locator("#compare-results path.same")).to_have_count(1)

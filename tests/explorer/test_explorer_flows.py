"""What people do: search, ask, see why and why not, look at clauses, suppose, compare, watch a training, save."""

import json
import xml.etree.ElementTree as ElementTree

import pytest


def _saved(page, press):
    with page.expect_download() as found:
        press()
    return found.value.suggested_filename, found.value.path().read_text(encoding="utf-8")


def test_search_by_keyboard(explorer):
    page = explorer.open()
    page.keyboard.press("/")
    page.keyboard.type("spai")
    page.wait_for_selector("[role=option]")
    box = page.locator("#search input")
    assert box.get_attribute("aria-expanded") == "true"
    page.keyboard.press("ArrowDown")
    active = box.get_attribute("aria-activedescendant")
    assert page.locator(f"#{active}").get_attribute("aria-selected") == "true"
    page.locator("[role=option]", has_text="Spain").first.dispatch_event("pointerdown")
    page.wait_for_selector("h1:text-is('Spain')")
    assert page.evaluate("document.activeElement.tagName") == "H1"
    explorer.check()


@pytest.mark.parametrize("typed", ["borders(Spain, ?)", "Spain borders", "borders(Sp"])
def test_questions_in_the_one_box(explorer, typed):
    page = explorer.open()
    page.locator("#search input").fill(typed)
    wanted = page.locator("[role=option]", has_text="borders(Spain, ")
    wanted.first.wait_for()
    wanted.first.dispatch_event("pointerdown")
    if typed.endswith("Sp"):  # goes on with the object
        page.locator("[role=option]", has_text="borders(Spain, ?)").first.dispatch_event("pointerdown")
    page.wait_for_selector("h1:text-is('borders(Spain, ?)')")
    page.wait_for_selector("tbody tr")


def test_answers_are_those_of_the_service(explorer, ask):
    answers = ask("predict", {"queries": ["borders(Spain, ?)"], "k": 10})["results"][0]["answers"]
    page = explorer.open("question", subject="Spain", relation="borders")
    shown = page.locator("tbody tr td:nth-child(2)").all_inner_texts()
    assert shown == [one["object"] for one in answers]


def test_answers_can_be_asked_to_obey_the_clauses(explorer, ask):
    asked = {"queries": ["located_in(Spain, ?)"], "k": 10, "consistent": True}
    answers = ask("predict", asked)["results"][0]["answers"]
    page = explorer.open("question", subject="Spain", relation="located_in", obeying="yes")
    assert page.get_by_label("obeying the clauses").is_checked()
    assert page.locator("tbody tr td:nth-child(2)").all_inner_texts() == [one["object"] for one in answers]


def test_from_the_start_to_the_rule_behind_an_answer(explorer, certified):
    """What does the model predict, why, which rule is behind it, can I trust the rule? Four clicks."""
    page = explorer.open()
    page.locator(".card .why").first.click()
    page.wait_for_selector(".proof .by")
    explorer.check()
    clause = page.locator(".proof .by a").first
    text = clause.inner_text()
    clause.click()
    page.wait_for_selector(f"h1:text-is('{text}')")
    assert page.locator("h2", has_text="Does it hold in the facts?").count() == 1
    assert page.locator("svg.interval").count() == 1


def test_cards_tell_what_the_clauses_rescued(explorer, ask):
    found = ask("suggestions", run="south")["facts"]
    assert found
    assert all(one["split"] != "train" for one in found)
    assert all(one["without"]["run"] == "south-without" for one in found)
    page = explorer.open()
    first = page.locator(".card").first.inner_text()
    assert found[0]["clause"] in first
    assert f"at {found[0]['without']['rank']} by south-without" in first


def test_why_not_names_what_is_missing(explorer, ask):
    fact = {"subject": "Spain", "relation": "borders", "object": "Malta"}
    near = ask("prove", {"fact": fact})["near"]
    page = explorer.open("fact", **fact)
    assert page.locator(".missing").count() == sum(len(one["missing"]) for one in near) > 0


def test_the_graph_grows_by_click_and_by_key(explorer):
    page = explorer.open("entity", name="Spain")
    before = page.locator(".network .node").count()
    page.locator(".network .node:not(.grown)[data-name='Italy'], .network .node:not(.grown)").first.click()
    page.wait_for_selector(".graph-note a")
    after = page.locator(".network .node").count()
    assert before <= after <= 150
    page.locator(".network .node.chosen").focus()
    chosen = page.evaluate("document.activeElement.dataset.name")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.name") is not None
    page.keyboard.press("Enter")
    assert page.locator(".graph-note a").count() == 1
    assert chosen
    name, text = _saved(page, lambda: page.get_by_role("button", name="Save picture").click())
    picture = ElementTree.fromstring(text)
    assert name == "Around Spain.svg"
    assert picture.tag.endswith("svg")
    assert "var(--" not in text


def test_clauses_are_certified_on_demand(explorer):
    page = explorer.open("clauses", run="south")
    button = page.get_by_role("button", name="Certify")
    if button.count():
        button.click()
    page.wait_for_selector(".verdict", timeout=60_000)
    assert page.locator("tbody tr").count() == page.locator(".verdict").count()
    page.get_by_role("button", name="bound").click()
    assert page.locator("th[aria-sort=descending]").inner_text().startswith("bound")


def test_what_if_a_clause_were_off(explorer, ask):
    rules = ask("clauses")["clauses"]
    number = next(one["id"] for one in rules if one["clause"].startswith("borders(X, Y) => borders"))
    expected = ask("whatif", {"clauses_off": [number], "query": "borders(Spain, ?)"})
    page = explorer.open("whatif", query="borders(Spain, ?)")
    page.wait_for_selector("text=Nothing is switched yet")
    page.locator(".switches label", has_text="borders(X, Y) => borders(Y, X)").locator("input").uncheck()
    page.wait_for_selector(f"text=− {expected['lost_total']} no longer")
    assert f"off={number}" in page.url
    shown = page.locator(".result tbody tr td:nth-child(2)").all_inner_texts()
    assert shown == [one["object"] for one in expected["answers_after"]]
    page.get_by_label("Fact to add").fill("borders(Malta, Spain)")
    page.get_by_label("Fact to add").press("Enter")
    page.wait_for_selector("text=borders(Malta, Spain)")
    page.get_by_role("button", name="Remove borders(Malta, Spain)").wait_for()
    explorer.check()


def test_curves_grow_while_a_training_writes_its_log(explorer, runs):
    page = explorer.open("training", run="growing")
    page.wait_for_selector("text=0 epochs so far")
    records = [{"epoch": epoch, "fact_loss": 1 / epoch, "seconds": 1.0} for epoch in (1, 2, 3)]
    with (runs / "growing" / "log.jsonl").open("a", encoding="utf-8") as log:
        log.writelines(json.dumps(record) + "\n" for record in records)
    page.wait_for_selector("text=3 epochs so far")
    assert page.locator("svg.linechart").first.locator(".series circle").count() == 3


def test_two_runs_side_by_side(explorer):
    page = explorer.open("training")
    page.get_by_role("link", name="south-without").click()
    page.wait_for_selector("h1:text-is('south and south-without')")
    assert page.locator("svg.linechart").first.locator(".series").count() == 2


def test_tables_are_saved(explorer, ask):
    page = explorer.open("question", subject="Spain", relation="borders")
    answers = ask("predict", {"queries": ["borders(Spain, ?)"], "k": 10})["results"][0]["answers"]
    name, text = _saved(page, lambda: page.get_by_role("button", name="as JSON").click())
    assert name.endswith(".json")
    assert json.loads(text) == answers
    _, text = _saved(page, lambda: page.get_by_role("button", name="as CSV").click())
    assert len(text.splitlines()) == 1 + len(answers)


def test_chosen_pages_become_one_file(explorer, browser, tmp_path):
    """It has no script, asks nobody, and its links stay inside."""
    explorer.open("entity", name="Spain")
    page = explorer.open("question", subject="Spain", relation="borders")
    explorer.open("export")
    name, text = _saved(page, lambda: page.get_by_role("button", name="Save as HTML").click())
    assert name == "south.html"
    assert "<script" not in text
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    other = browser.new_page()
    asked = []
    other.on("request", lambda request: asked.append(request.url))
    other.goto(file.as_uri())
    assert asked == [file.as_uri()]
    titles = other.locator("nav li").all_inner_texts()
    assert {"Start", "Clauses", "Training", "Spain", "borders(Spain, ?)"} <= set(titles)
    assert other.locator("article").count() == len(titles)
    links = other.locator("a[href]").evaluate_all("links => links.map((link) => link.getAttribute('href'))")
    assert all(link.startswith("#page-") for link in links)
    other.close()


def test_colours_are_chosen_and_kept(explorer):
    page = explorer.open()
    page.get_by_role("button", name="Dark colours").click()
    page.reload()
    explorer.drawn()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    explorer.check()

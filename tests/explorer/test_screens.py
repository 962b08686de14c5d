"""Every page: drawn without an error, nothing loaded from elsewhere, and accessible, by desk and phone."""

import pytest

PAGES = {
    "start": ("", {}),
    "search": ("search", {"q": "an"}),
    "entity": ("entity", {"name": "Spain"}),
    "relation": ("relation", {"name": "borders"}),
    "ask": ("question", {}),
    "question": ("question", {"subject": "Spain", "relation": "borders"}),
    "question of relations": ("question", {"subject": "Spain", "object": "Spanish"}),
    "proof": ("fact", {"subject": "Spain", "relation": "has_language", "object": "Spanish"}),
    "no proof": ("fact", {"subject": "Spain", "relation": "borders", "object": "Malta"}),
    "clauses": ("clauses", {}),
    "clause": ("clause", {"id": "0"}),
    "what if": ("whatif", {"off": "0", "query": "borders(Spain, ?)"}),
    "training": ("training", {}),
    "comparison": ("compare", {"a": "south", "b": "south-without", "query": "borders(Spain, ?)"}),
    "export": ("export", {}),
    "lost": ("nowhere", {}),
}
ODD_NAME = "<img src=x onerror=alert(1)>"
ODD = {
    "start": ("", {}),
    "entity": ("entity", {"name": ODD_NAME}),
    "relation": ("relation", {"name": "knows (well)/ok"}),
    "question": ("question", {"subject": ODD_NAME, "relation": "knows (well)/ok"}),
    "fact": ("fact", {"subject": ODD_NAME, "relation": "knows (well)/ok", "object": "Zoë & co"}),
    "clauses": ("clauses", {}),
    "what if": ("whatif", {"query": f'"knows (well)/ok"("{ODD_NAME}", ?)'}),
    "training": ("training", {}),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_on_a_desk(desk, certified, name):
    page, params = PAGES[name]
    desk.open(page, **params)
    assert desk.page.locator("h1").count() == 1
    desk.check()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_on_a_phone_in_dark_colours(phone, certified, name):
    page, params = PAGES[name]
    phone.open(page, **params)
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert phone.axe(runOnly=["color-contrast"]) == []


@pytest.mark.parametrize("name", ODD)
def test_a_strange_graph(desk, name):
    """One relation, self-loops, no clauses, no valid facts, and names that look like HTML."""
    page, params = ODD[name]
    desk.open(page, **params, run="odd")
    assert desk.page.locator("main img").count() == 0
    assert "did not work" not in desk.page.inner_text("h1")
    assert desk.wrong == []


@pytest.mark.parametrize("name", ODD)
def test_long_names_fit_a_phone(phone, name):
    page, params = ODD[name]
    phone.open(page, **params, run="odd")
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_what_is_wrong_is_said(explorer):
    page = explorer.open("entity", name="Spayn")
    assert "Spayn" in page.inner_text("[role=alert]")
    assert all("404" in one for one in explorer.wrong)  # the browser logs the status of the answer
    explorer.wrong.clear()


def test_a_link_works_in_a_new_tab(explorer, browser, service):
    """Everything is in the address: another tab shows the same."""
    first = explorer.open("question", subject="Spain", relation="borders", k="25", fresh="yes")
    rows = first.locator("tbody tr").all_inner_texts()
    context = browser.new_context()
    other = context.new_page()
    other.goto(first.url)
    other.wait_for_selector("tbody tr")
    assert other.locator("tbody tr").all_inner_texts() == rows
    context.close()


def test_axe_finds_what_is_wrong(explorer):
    """The check itself can fail."""
    page = explorer.open()
    page.evaluate("document.querySelector('main').insertAdjacentHTML('beforeend', '<button></button>')")
    assert any(one.startswith("button-name") for one in explorer.axe())

"""The modules that compute: layout, ticks, CSV, addresses; run in the browser."""


def test_a_layout_of_150_nodes_is_finite_and_spread_out(explorer):
    page = explorer.open()
    found = page.evaluate(
        """async () => {
            const { layout } = await import("/static/layout.js");
            const nodes = Array.from({length: 150}, (_, id) => ({id}));
            const edges = nodes.map(({id}) => ({source: id, target: Math.floor(id / 3)})); // a tree with a self-loop
            const started = performance.now();
            layout(nodes, edges);
            const took = performance.now() - started;
            return {took, places: nodes.map(({x, y}) => [x, y])};
        }"""
    )
    places = found["places"]
    assert all(abs(value) < 10_000 for place in places for value in place)
    nearest = min((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 for i, a in enumerate(places) for b in places[:i])
    assert nearest > 10**2
    assert found["took"] < 5_000


def test_a_layout_that_grows_keeps_its_shape(explorer):
    page = explorer.open()
    moved = page.evaluate(
        """async () => {
            const { layout } = await import("/static/layout.js");
            const nodes = Array.from({length: 20}, (_, id) => ({id}));
            const edges = nodes.slice(1).map(({id}) => ({source: id, target: 0}));
            layout(nodes, edges);
            const before = nodes.map(({x, y}) => [x, y]);
            nodes.push({id: 20});
            layout(nodes, [...edges, {source: 20, target: 0}]);
            return Math.max(...before.map(([x, y], place) => Math.hypot(x - nodes[place].x, y - nodes[place].y)));
        }"""
    )
    assert moved < 200


def test_ticks_are_round_and_inside(explorer):
    page = explorer.open()
    found = page.evaluate(
        """async () => {
            const { ticks } = await import("/static/chart.js");
            const ranges = [[0, 1], [0.515, 0.638], [-3, 12], [0, 1e-6], [5, 5], [100, 1e7]];
            return ranges.map(([low, high]) => ({low, high, ticks: ticks(low, high)}));
        }"""
    )
    for one in found:
        assert 1 <= len(one["ticks"]) <= 11
        assert all(one["low"] - 1e-9 <= tick <= one["high"] * (1 + 1e-9) for tick in one["ticks"])


def test_csv_quotes_what_needs_it(explorer):
    page = explorer.open()
    text = page.evaluate(
        """async () => (await import("/static/download.js")).toCsv([{a: 'x, "y"', b: null}, {a: "1\\n2", c: 0.5}])"""
    )
    assert text == 'a,b,c\r\n"x, ""y""",,\r\n"1\n2",,0.5\r\n'


def test_addresses_are_read_as_they_were_written(explorer):
    page = explorer.open()
    names = ["a/b#c?d&e=f", "ñ %25 +", "<b>", "'\"`"]
    back = page.evaluate(
        """async (names) => {
            const { link, parse } = await import("/static/route.js");
            return names.map((name) => parse(link("entity", {name})).params.name);
        }""",
        names,
    )
    assert back == names

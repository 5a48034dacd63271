// The examples of a run: a list to sort and search, and the chosen one as heatmaps side by side.
const examples = (() => {
  "use strict";
  const AT_ONCE = 40;
  const LEAST_ON_MARKS = 0.005; // less would be shown as 0 %
  const NOT_PLAYABLE = " There is no playground: the output layer is not linear in the attention, or weight lies on tokens that are not shown.";
  const NONE = "";

  // key -> [text, what it sorts by (null: not known of this example), descending]
  const SORTS = {
    jsd: ["furthest attention first", (each) => each.jsd, true],
    pinned: ["most pinned down first", (each) => each.jsd],
    tau: ["tau with gradient, lowest first", (each) => each.numbers.tau_gradient],
    tau_loo: ["tau with leave-one-out, lowest first", (each) => each.numbers.tau_leave_one_out],
    shuffled: ["least change when shuffled first", (each) => each.numbers.shuffled],
    error: ["most confident error first", (each) => (isWrong(each) ? each.probs[each.predicted] : null), true],
    long: ["longest first", (each) => each.tokens.length, true],
    short: ["shortest first", (each) => each.tokens.length],
    name: ["by name", (each) => each.id],
  };
  const known = (value) => value !== null && value !== undefined;

  /** What is not known comes last, in either direction. */
  function compare(key) {
    const [, of, descending] = SORTS[key];
    return (a, b) => {
      const [x, y] = [of(a), of(b)];
      if (!known(x) || !known(y)) return known(y) - known(x);
      return (x < y ? -1 : Number(x > y)) * (descending ? -1 : 1);
    };
  }

  /** Only the orders that some example has a value for; the first is the one to start with. */
  const sortsFor = (all) => Object.keys(SORTS).filter((key) => all.some((each) => known(SORTS[key][1](each))));

  const isWrong = (each) => each.label >= 0 && each.label !== each.predicted;
  const className = (run, at) => dom.shown(run.classes[at] ?? at);

  /** Fill `root` with the examples of `run`, of which there is one at least; `play(example)` opens the playground. */
  function mount(root, run, data, play) {
    const sorts = sortsFor(data.examples);
    const view = { sort: sorts[0], text: "", predicted: "", answer: "", shown: AT_ONCE, measure: NONE, numbers: false, row: -1 };
    const list = dom.make("ol", { class: "list" });
    const count = dom.make("p", { class: "soft count", role: "status" });
    const detail = dom.make("article", { class: "detail" });
    const searched = new Map(data.examples.map((each) =>
      [each, `${each.id} ${each.query} ${each.tokens.join(" ")}`.toLowerCase()]));
    const labelled = data.examples.some((each) => each.label >= 0);
    const playable = data.examples.some((each) => each.readout);
    let chosen = null;

    const matches = () => data.examples.filter((each) =>
      (!view.text || searched.get(each).includes(view.text.toLowerCase()))
      && (view.predicted === "" || each.predicted === Number(view.predicted))
      && (view.answer === "" || (view.answer === "wrong") === isWrong(each))).sort(compare(view.sort));

    function drawList() {
      const found = matches();
      count.textContent = `${found.length.toLocaleString("en")} of ${data.examples.length.toLocaleString("en")}`;
      list.replaceChildren(...found.slice(0, view.shown).map((each) => dom.make("li", {}, entry(run, each, each === chosen, choose))));
      if (found.length > view.shown) {
        list.append(dom.make("li", {}, dom.button("Show more", () => { view.shown += 4 * AT_ONCE; drawList(); }, { class: "plain" })));
      }
      return found;
    }

    function choose(each) {
      chosen = each;
      list.querySelectorAll("[aria-current]").forEach((old) => old.removeAttribute("aria-current"));
      list.querySelectorAll("button").forEach((one) => { if (one.dataset.id === each.id) one.setAttribute("aria-current", "true"); });
      drawDetail();
    }

    const drawDetail = () => detail.replaceChildren(...(chosen ? shownInFull(run, unpack.example(chosen), view, drawDetail, playable ? play : null) : []));

    const again = (key) => (value) => { view[key] = value; view.shown = AT_ONCE; drawList(); };
    const search = dom.make("input", { type: "search", placeholder: "a word, or a name",
      on: { input: (event) => again("text")(event.target.value) } });
    const classes = [...new Set(data.examples.map((each) => each.predicted))].sort((a, b) => a - b);
    root.replaceChildren(
      dom.make("p", { class: "soft", text: data.rule + (playable ? "" : NOT_PLAYABLE) }),
      dom.make("div", { class: "controls" },
        dom.make("label", { class: "field" }, dom.make("span", { text: "Search" }), search),
        dom.select("Sort", sorts.map((key) => [key, SORTS[key][0]]), view.sort, again("sort")).element,
        dom.select("Predicted", [["", "any class"], ...classes.map((at) => [at, className(run, at)])], "", again("predicted")).element,
        labelled ? dom.select("Answer", [["", "right or wrong"], ["right", "right"], ["wrong", "wrong"]], "", again("answer")).element : null),
      dom.make("div", { class: "master" }, dom.make("div", { class: "index" }, count, list), detail));
    const first = drawList()[0];
    if (first) choose(first);
  }

  function entry(run, each, isChosen, choose) {
    const text = dom.shown(unpack.line(each).slice(0, 90));
    return dom.make("button", { type: "button", class: "entry", "data-id": each.id, "aria-current": isChosen ? "true" : null,
      on: { click: () => choose(each) } },
    dom.make("span", { class: "snippet", dir: "auto", text: text || "(no words)" }),
    dom.make("span", { class: "soft small" },
      `${className(run, each.predicted)}${isWrong(each) ? `, label ${className(run, each.label)} ✗` : ""}${known(each.jsd) ? ` · JSD ${dom.number(each.jsd, 2)}` : ""} · ${each.tokens.length} words`));
  }

  function shownInFull(run, example, view, redraw, play) {
    const several = example.rows > 1;
    if (view.row >= example.rows) view.row = -1;
    const line = dom.make("p", { class: "reading", role: "status", text: "Point at a word, or use the arrow keys, to read its weights." });
    const maps = [["attention", example.attention(view.row)]];
    if (example.furthest) maps.push(["furthest with the same prediction", example.furthest(view.row)]);
    const measures = Object.keys(example.scores);
    if (view.measure !== NONE && measures.includes(view.measure)) maps.push([view.measure, example.score(view.measure, view.row)]);
    const evidence = new Set(example.evidence || []);
    const onPoint = (n) => line.replaceChildren(
      `${n + 1}. `, dom.word(example.tokens[n].slice(0, 60)), example.pair ? ` (${heatmap.PARTS[example.pair[n]]}): ` : ": ",
      maps.map(([name, weights]) => `${name} ${dom.number(weights[n], 4)}`).join(" · "), evidence.has(n) ? " · known evidence" : "");
    const controls = dom.make("div", { class: "controls" },
      dom.select("Beside", [[NONE, "no measure"], ...measures.map((name) => [name, name.replaceAll("_", " ")])],
        measures.includes(view.measure) ? view.measure : NONE, (value) => { view.measure = value; redraw(); }).element,
      several ? dom.select("Row", [[-1, "mean of all rows"], ...Array.from({ length: example.rows }, (_, at) => [at, run.rows[at] ?? `row ${at}`])],
        view.row, (value) => { view.row = Number(value); redraw(); }).element : null,
      dom.make("label", { class: "tick" }, dom.make("input", { type: "checkbox", checked: view.numbers,
        on: { change: (event) => { view.numbers = event.target.checked; redraw(); } } }), "Numbers"),
      example.readout && play ? dom.button("Play with this example", () => play(example.id), { class: "main" }) : null);
    return [
      dom.make("h3", {}, dom.word(example.id)),
      example.query ? dom.make("p", { class: "query" }, "Asked: ", dom.word(example.query)) : null,
      dom.make("p", { text: verdict(run, example) }),
      marks(example, view),
      controls,
      dom.make("div", { class: "maps" }, ...maps.map(([name, weights]) => dom.make("section", {},
        dom.make("h4", { text: name.replaceAll("_", " ") }),
        heatmap.create({ tokens: example.tokens, weights, evidence: example.evidence, pair: example.pair, name, withNumbers: view.numbers, onPoint }).element))),
      line,
      dom.make("p", { class: "soft small", text: `Darker is more, relative to the largest weight in the text.${
        evidence.size ? " Underlined words are the known evidence." : ""}${example.readout || !play ? "" : " This example has no readout, so it cannot be played with."}` }),
    ].filter(Boolean);
  }

  /** How much of the attention is not on words at all. */
  function marks(example, view) {
    const share = example.marks(view.row);
    return share > LEAST_ON_MARKS ? dom.make("p", { class: "marks", text: `${dom.percent(share)} of the attention is on marks, not on words.` }) : null;
  }

  function verdict(run, example) {
    const p = dom.number(example.probs[example.predicted]);
    const label = example.label < 0 ? "" : isWrong(example) ? `, but the label is ${className(run, example.label)}` : ", as labelled";
    if (example.jsd === null) return `Predicted ${className(run, example.predicted)} with ${p}${label}. No other attention was searched for.`;
    const far = example.exact ? `${dom.number(example.jsd)} away, exactly`
      : `at least ${dom.number(example.jsd)} and at most ${dom.number(example.upper)} away`;
    return `Predicted ${className(run, example.predicted)} with ${p}${label}. The furthest attention with the same prediction is ${far} (JSD, at most 0.693).`;
  }

  return { isWrong, mount };
})();

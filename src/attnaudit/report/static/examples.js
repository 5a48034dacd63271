// The examples of a run: a list to sort and search, and the chosen one as heatmaps side by side.
const examples = (() => {
  "use strict";
  const AT_ONCE = 40;
  const NONE = "none";

  const SORTS = {
    jsd: ["furthest attention first", (a, b) => (b.jsd ?? -1) - (a.jsd ?? -1)],
    pinned: ["most pinned down first", (a, b) => (a.jsd ?? 9) - (b.jsd ?? 9)],
    tau: ["tau with gradient, lowest first", (a, b) => (a.numbers.tau_gradient ?? 9) - (b.numbers.tau_gradient ?? 9)],
    tau_loo: ["tau with leave-one-out, lowest first",
      (a, b) => (a.numbers.tau_leave_one_out ?? 9) - (b.numbers.tau_leave_one_out ?? 9)],
    shuffled: ["least change when shuffled first", (a, b) => (a.numbers.shuffled ?? 9) - (b.numbers.shuffled ?? 9)],
    long: ["longest first", (a, b) => b.tokens.length - a.tokens.length],
    short: ["shortest first", (a, b) => a.tokens.length - b.tokens.length],
    error: ["most confident error first", (a, b) => wrong(b) - wrong(a)],
    name: ["by name", (a, b) => (a.id < b.id ? -1 : 1)],
  };

  const isWrong = (each) => each.label >= 0 && each.label !== each.predicted;
  const wrong = (each) => (isWrong(each) ? each.probs[each.predicted] : -1);
  const className = (run, at) => dom.shown(run.classes[at] ?? at);

  /** Fill `root` with the examples of `run`; `play(example)` opens the playground. */
  function mount(root, run, data, play) {
    const view = { sort: "jsd", text: "", predicted: "", answer: "", shown: AT_ONCE, measure: NONE, numbers: false, row: -1 };
    const list = dom.make("ol", { class: "list" });
    const count = dom.make("p", { class: "soft count", role: "status" });
    const detail = dom.make("article", { class: "detail" });
    const searched = new Map(data.examples.map((each) =>
      [each, `${each.id} ${each.query} ${each.tokens.join(" ")}`.toLowerCase()]));
    let chosen = null;

    const matches = () => data.examples.filter((each) =>
      (!view.text || searched.get(each).includes(view.text.toLowerCase()))
      && (view.predicted === "" || each.predicted === Number(view.predicted))
      && (view.answer === "" || (view.answer === "wrong") === isWrong(each))).sort(SORTS[view.sort][1]);

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

    const drawDetail = () => detail.replaceChildren(...(chosen ? shownInFull(run, unpack.example(chosen), view, drawDetail, play) : []));

    const again = (key) => (value) => { view[key] = value; view.shown = AT_ONCE; drawList(); };
    const search = dom.make("input", { type: "search", placeholder: "a word, or a name",
      on: { input: (event) => again("text")(event.target.value) } });
    const classes = [...new Set(data.examples.map((each) => each.predicted))].sort((a, b) => a - b);
    root.replaceChildren(
      dom.make("p", { class: "soft", text: data.rule }),
      dom.make("div", { class: "controls" },
        dom.make("label", { class: "field" }, dom.make("span", { text: "Search" }), search),
        dom.select("Sort", Object.entries(SORTS).map(([key, [text]]) => [key, text]), view.sort, again("sort")).element,
        dom.select("Predicted", [["", "any class"], ...classes.map((at) => [at, className(run, at)])], "", again("predicted")).element,
        dom.select("Answer", [["", "right or wrong"], ["right", "right"], ["wrong", "wrong"]], "", again("answer")).element),
      dom.make("div", { class: "master" }, dom.make("div", { class: "index" }, count, list), detail));
    const first = drawList()[0];
    if (first) choose(first);
    else detail.append(dom.make("p", { class: "soft", text: "No example of this run was kept." }));
  }

  function entry(run, each, isChosen, choose) {
    const text = dom.shown(each.tokens.join(" ").slice(0, 90));
    return dom.make("button", { type: "button", class: "entry", "data-id": each.id, "aria-current": isChosen ? "true" : null,
      on: { click: () => choose(each) } },
    dom.make("span", { class: "snippet", dir: "auto", text: text || "(no words)" }),
    dom.make("span", { class: "soft small" },
      `${className(run, each.predicted)}${isWrong(each) ? `, label ${className(run, each.label)} ✗` : ""} · JSD ${dom.number(each.jsd, 2)} · ${each.tokens.length} words`));
  }

  function shownInFull(run, example, view, redraw, play) {
    const several = example.rows > 1;
    if (view.row >= example.rows) view.row = -1;
    const line = dom.make("p", { class: "reading", role: "status", text: "Point at a word, or use the arrow keys, to read its weights." });
    const maps = [["attention", example.attention(view.row)], ["furthest with the same prediction", example.furthest(view.row)]];
    const measures = Object.keys(example.scores);
    if (view.measure !== NONE && measures.includes(view.measure)) maps.push([view.measure, example.score(view.measure, view.row)]);
    const known = new Set(example.evidence || []);
    const onPoint = (n) => line.replaceChildren(
      `${n + 1}. `, dom.word(example.tokens[n].slice(0, 60)), ": ",
      maps.map(([name, weights]) => `${name} ${dom.number(weights[n], 4)}`).join(" · "), known.has(n) ? " · known evidence" : "");
    const controls = dom.make("div", { class: "controls" },
      dom.select("Beside", [[NONE, "no measure"], ...measures.map((name) => [name, name.replaceAll("_", " ")])],
        measures.includes(view.measure) ? view.measure : NONE, (value) => { view.measure = value; redraw(); }).element,
      several ? dom.select("Row", [[-1, "mean of all rows"], ...Array.from({ length: example.rows }, (_, at) => [at, `row ${at + 1}`])],
        view.row, (value) => { view.row = Number(value); redraw(); }).element : null,
      dom.make("label", { class: "tick" }, dom.make("input", { type: "checkbox", checked: view.numbers,
        on: { change: (event) => { view.numbers = event.target.checked; redraw(); } } }), "Numbers"),
      example.readout ? dom.button("Play with this example", () => play(example.id), { class: "main" }) : null);
    return [
      dom.make("h3", {}, dom.word(example.id)),
      example.query ? dom.make("p", { class: "query" }, "Asked: ", dom.word(example.query)) : null,
      dom.make("p", { text: verdict(run, example) }),
      controls,
      dom.make("div", { class: "maps" }, ...maps.map(([name, weights]) => dom.make("section", {},
        dom.make("h4", { text: name.replaceAll("_", " ") }),
        heatmap.create({ tokens: example.tokens, weights, evidence: example.evidence, name, withNumbers: view.numbers, onPoint }).element))),
      line,
      dom.make("p", { class: "soft small", text: `Darker is more, relative to the largest weight in the text.${
        known.size ? " Underlined words are the known evidence." : ""}${example.readout ? "" : " This example has no readout, so it cannot be played with."}` }),
    ].filter(Boolean);
  }

  function verdict(run, example) {
    const p = dom.number(example.probs[example.predicted]);
    const label = example.label < 0 ? "" : isWrong(example) ? `, but the label is ${className(run, example.label)}` : ", as labelled";
    if (example.jsd === null) return `Predicted ${className(run, example.predicted)} with ${p}${label}. No other attention was looked for.`;
    const far = example.exact ? `${dom.number(example.jsd)} away, exactly`
      : `at least ${dom.number(example.jsd)} and at most ${dom.number(example.upper)} away`;
    return `Predicted ${className(run, example.predicted)} with ${p}${label}. The furthest attention with the same prediction is ${far} (JSD, at most 0.693).`;
  }

  return { isWrong, mount };
})();

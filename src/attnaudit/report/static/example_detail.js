// @ts-check
// One example in full: what was predicted, and its heatmaps side by side.
const exampleDetail = (() => {
  "use strict";
  const ALL = "\u0000all"; // the choice of every measure, which no measure can be called
  const LEAST_ON_MARKS = 0.005; // less would be shown as 0 %
  const { className, isWrong } = exampleList;

  /**
   * The heatmaps on show: name and weights of each.
   * @param {Example} example
   * @param {ExampleView} view
   * @returns {[string, (number | null)[]][]}
   */
  function heatmaps(example, view) {
    /** @type {[string, (number | null)[]][]} */
    const maps = [["attention", example.attention(view.row)]];
    if (example.furthest)
      maps.push(["furthest with the same prediction", example.furthest(view.row)]);
    for (const name of Object.keys(example.scores))
      if (view.measure === ALL || view.measure === name)
        maps.push([name, example.score(name, view.row)]);
    return maps;
  }

  /**
   * @param {Example} example
   * @param {ExampleView} view
   */
  const hasMeasure = (example, view) =>
    view.measure === ALL || Object.keys(example.scores).includes(view.measure);

  /**
   * @param {RunInfo} run
   * @param {Example} example
   * @param {ExampleView} view changed by the controls, which then call redraw
   * @param {() => void} redraw
   * @param {((id: string) => void) | null} play
   */
  function controls(run, example, view, redraw, play) {
    const change = (/** @type {Partial<ExampleView>} */ changed) => {
      Object.assign(view, changed);
      redraw();
    };
    const measures = /** @type {[string, string][]} */ ([
      ["", "no measure"],
      [ALL, "all, next to each other"],
      ...Object.keys(example.scores).map((name) => [name, spaced(name)]),
    ]);
    const names = Array.from({ length: example.rows }, (_, row) => run.rows[row] ?? `row ${row}`);
    /** @type {[number, string][]} */
    const rows = [[-1, "mean of all rows"], ...names.entries()];
    const tick = dom.make("input", {
      type: "checkbox",
      checked: view.numbers,
      on: { change: () => change({ numbers: tick.checked }) },
    });
    return dom.make(
      "div",
      { class: "controls" },
      dom.select(
        "Compare with",
        measures,
        hasMeasure(example, view) ? view.measure : "",
        (measure) => change({ measure }),
      ).element,
      example.rows > 1
        ? dom.select("Row", rows, view.row, (row) => change({ row: Number(row) })).element
        : null,
      dom.make("label", { class: "tick" }, tick, "Numbers"),
      unpack.isPlayable(example) && play
        ? dom.button("Play with this example", () => play(example.id), { class: "main" })
        : null,
    );
  }

  /** @param {string} name */
  const spaced = (name) => name.replaceAll("_", " ");

  /**
   * The elements that show an example.
   * @param {RunInfo} run
   * @param {Example} example
   * @param {ExampleView} view
   * @param {() => void} redraw
   * @param {((id: string) => void) | null} play opens the playground; null if the run has none
   */
  function create(run, example, view, redraw, play) {
    if (view.row >= example.rows) view.row = -1;
    const maps = heatmaps(example, view);
    const evidence = new Set(example.evidence || []);
    const reading = dom.make("p", {
      class: "reading",
      role: "status",
      text: "Point at a word, or use the arrow keys, to read its weights.",
    });
    const onPoint = (/** @type {number} */ n) =>
      reading.replaceChildren(
        `${n + 1}. `,
        dom.word(example.tokens[n].slice(0, 60)),
        example.pair ? ` (${heatmap.PARTS[example.pair[n]]}): ` : ": ",
        maps.map(([name, weights]) => `${name} ${dom.number(weights[n], 4)}`).join(" · "),
        evidence.has(n) ? " · known evidence" : "",
      );
    const { tokens, pair } = example;
    const predicted = className(run, example.predicted);
    const sections = maps.map(([name, weights]) =>
      dom.make(
        "section",
        {},
        dom.make("h4", { text: spaced(name) }),
        heatmap.create({
          tokens,
          weights,
          evidence: example.evidence,
          pair,
          name,
          withNumbers: view.numbers,
          onPoint,
        }).element,
        heatmapExport.buttons(
          `${example.id}-${name}`,
          tokens,
          weights,
          `${spaced(name)} (${heatmap.shadeText(weights)}), predicted '${predicted}'`,
        ),
      ),
    );
    const hints = [
      "Darker is more, relative to the largest weight in the text.",
      ...(maps.some(([, weights]) => weights.some((weight) => weight < 0))
        ? [`${heatmap.AGAINST[0].toUpperCase()}${heatmap.AGAINST.slice(1)}.`]
        : []),
      ...(evidence.size ? ["Underlined words are the known evidence."] : []),
      ...(unpack.isPlayable(example) || !play ? [] : [notPlayable(example)]),
    ];
    return [
      dom.make("h3", {}, dom.word(example.id)),
      example.query ? dom.make("p", { class: "query" }, "Query: ", dom.word(example.query)) : null,
      dom.make("p", { text: prediction(run, example) }),
      marks(example, view),
      controls(run, example, view, redraw, play),
      dom.make("div", { class: "maps" }, ...sections),
      reading,
      dom.make("p", { class: "soft small", text: hints.join(" ") }),
    ].filter(Boolean);
  }

  /** @param {Example} example */
  function notPlayable(example) {
    const longest = unpack.LONGEST_PLAYED.toLocaleString("en");
    return example.readout || example.moves
      ? `Texts of more than ${longest} words cannot be played with.`
      : "No moves of the attention are stored for this example, so it cannot be played with.";
  }

  /**
   * How much of the attention is on special tokens, if any.
   * @param {Example} example
   * @param {ExampleView} view
   */
  function marks(example, view) {
    const share = example.marks(view.row);
    if (!(share > LEAST_ON_MARKS)) return null;
    const text = `${dom.percent(share)} of the attention is on special tokens, not on words.`;
    return dom.make("p", { class: "marks", text });
  }

  /**
   * @param {RunInfo} run
   * @param {Example} example
   */
  function labelText(run, example) {
    if (example.label < 0) return "";
    return isWrong(example)
      ? `, but the label is ${className(run, example.label)}`
      : ", as labelled";
  }

  /**
   * What was predicted, and how far the attention can be moved with the prediction kept.
   * @param {RunInfo} run
   * @param {Example} example
   */
  function prediction(run, example) {
    const p = dom.number(example.probs[example.predicted]);
    const predicted = className(run, example.predicted);
    const said = `Predicted ${predicted} with ${p}${labelText(run, example)}.`;
    if (example.jsd === null) return `${said} No other attention was searched for.`;
    const jsd = dom.number(example.jsd);
    const distance = example.exact
      ? `exactly ${jsd} away`
      : `at least ${jsd} and at most ${dom.number(example.upper)} away`;
    return (
      `${said} The furthest attention with the same prediction is ${distance} ` +
      "(JSD, at most 0.693)."
    );
  }

  return { create };
})();

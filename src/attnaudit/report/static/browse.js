// Every plot of the debate for the chosen run and class; drawn when it comes into view, saved as SVG, PNG or CSV.
const browse = (() => {
  "use strict";
  const RANDOM = "random";
  const measureChoices = (part, skip = () => false) => Object.keys(part.measures).filter((name) => !skip(name));

  /** title: the question; caption: how to read it; draw(data, view) -> {rows, spec, height}; measures(data): what can be chosen. */
  const CHARTS = [
    { id: "tau", title: "Does attention rank the words as a measure does?", has: (data) => data.tau, first: "gradient",
      measures: (data) => measureChoices(data.tau, (name) => name === RANDOM),
      caption: "Kendall’s tau by example: 1 is the same order, 0 none. Dashed: attention against random scores, the floor.",
      draw: (data, view) => chartSpecs.histogram(data, data.tau, view.measure, view, "tau with attention", RANDOM) },
    { id: "permutation", title: "Does the prediction move when the weights are shuffled?", has: (data) => data.violins?.length,
      caption: "The median change over shuffles, by how large the largest weight is. Spread on the left: attention that could be anything.",
      draw: chartSpecs.violins },
    { id: "change", title: "Change when shuffled, against the largest weight", has: (data) => data.points?.change,
      caption: "A point an example. Large weights whose shuffling changes nothing lie at the bottom right.",
      draw: (data, view) => chartSpecs.scatter(data, view, "max_attention", "change", "largest weight", "median change (TVD)", 1) },
    { id: "furthest", title: "How different could the attention have been?", has: (data) => data.jsd,
      caption: "ε-max JSD: the furthest attention with the same prediction; at most 0.693.",
      draw: (data, view) => chartSpecs.histogram(data, data.jsd, Object.keys(data.jsd.measures)[0], view, "furthest attention (JSD)") },
    { id: "furthest-widest", title: "Furthest attention, against the largest weight", has: (data) => data.points?.jsd && data.points?.max_attention,
      caption: "Peaked attention is not pinned down by being peaked: points at the top right could have looked quite different.",
      draw: (data, view) => chartSpecs.scatter(data, view, "max_attention", "jsd", "largest weight", "furthest attention (JSD)", 0.7) },
    { id: "epsilon", title: "How does the room grow with what counts as the same?", has: (data) => data.epsilon?.length,
      caption: "Mean and quartiles over examples. Dashed: what is certified, where it is more than what was found; dotted: ln 2.",
      draw: chartSpecs.epsilon },
    { id: "delta", title: "Does removing the top word do more than removing a random one?", has: (data) => data.points?.delta_js,
      caption: "ΔJS against Δalpha (Serrano & Smith): below 0 the random word did more.",
      draw: (data, view) => deltas(data, view) },
    { id: "flips", title: "Does the decision flip?", has: (data) => data.flips?.length, table: flipTable,
      caption: "Without the most attended word, and without a random other one; shares of examples." },
    { id: "removal", title: "How many words must go until the decision flips?", has: (data) => data.removal?.length,
      caption: "Most important first, by each measure: median, quartiles, 5 and 95 % of all examples, 1 where nothing flips. No ranking can beat the exact minimum.",
      draw: moreCharts.removal },
    { id: "entropy", title: "How spread out is it?", has: (data) => data.entropy, first: "attention",
      measures: (data) => measureChoices(data.entropy, (name) => name.startsWith("entropy")),
      caption: "Entropy divided by its largest value: 0 is one word, 1 is all words alike.", note: zeros,
      draw: (data, view) => chartSpecs.histogram(data, data.entropy, view.measure, view, "normalised entropy") },
    { id: "concentration", title: "How many words hold the attention?", has: (data) => data.concentration, first: "attention",
      measures: (data) => Object.keys(data.concentration.measures),
      caption: "What the highest words hold together: mean and quartiles over the examples kept whole. Dashed: all words alike. The earlier a curve is at 1, the sparser.",
      draw: moreCharts.concentration },
    { id: "matrix", title: "Do the measures agree with each other?", has: (data) => data.matrix, wide: true,
      caption: "Mean tau of every two, over the examples that were kept whole. Attention cannot be asked to agree more than they do.",
      draw: moreCharts.matrix },
  ];

  function deltas(data, view) {
    const made = chartSpecs.scatter(data, view, "delta_alpha", "delta_js", "Δalpha, top less random", "ΔJS, top less random", 0.7);
    made.spec.encoding.y.scale = { nice: true };
    return made;
  }

  function zeros(data, view) {
    const line = data.zeros?.find((each) => each.class === view.group);
    return line ? `Weights of exactly 0: ${dom.percent(line.mean)}.` : "";
  }

  function flipTable(data, view) {
    const line = data.flips.find((each) => each.class === view.group);
    if (!line) return null;
    const cell = (name) => dom.make("td", { class: "share", text: dom.percent(line[name]) });
    return { rows: [line], element: dom.make("table", { class: "flips" },
      dom.make("thead", {}, dom.make("tr", {}, dom.make("td"), dom.make("th", { scope: "col", text: "flips without a random word" }), dom.make("th", { scope: "col", text: "does not" }))),
      dom.make("tbody", {},
        dom.make("tr", {}, dom.make("th", { scope: "row", text: "flips without the top word" }), cell("both"), cell("only_top")),
        dom.make("tr", {}, dom.make("th", { scope: "row", text: "does not" }), cell("only_random"), cell("neither")))) };
  }

  function extras(at) {
    const found = dom.json("beside") || { corpus: {}, interventions: [] };
    const corpus = (found.corpus[at] || []).filter((each) => each.detail.length && "mi" in each.detail[0]).map((each) => ({ id: "mi", title: each.question,
      caption: "Mutual information by rank of attention; dashed lines beside it are the words themselves and the shuffled floor.", draw: (_, view) => moreCharts.information(each, view) }));
    const others = found.interventions.map((each, n) => ({ id: `intervention-${n}`, title: each.question, caption: `${each.answer ? `${each.answer} ` : ""}Intervention ${each.name} (${each.id}).`,
      draw: (_, view) => moreCharts.apart(each, view), table: moreCharts.apart(each, {}) ? null : () => summaryTable(each) }));
    return [...corpus, ...others];
  }

  function summaryTable(found) {
    const columns = [...new Set(found.summary.flatMap((line) => Object.keys(line)))];
    return { rows: found.summary, element: numbers.table(columns, found.summary.map((line) => columns.map((name) => line[name]))) };
  }

  const chartsOf = (at) => [...CHARTS.filter((chart) => chart.has(dom.json(`charts-${at}`))), ...extras(at)];
  const has = (at, runs) => runs.length > 1 || chartsOf(at).length > 0;

  function mount(root, at, runs) {
    const data = dom.json(`charts-${at}`);
    const state = { group: -1 };
    const charts = chartsOf(at);
    const figures = dom.make("div", { class: "charts" });
    const drawAll = () => figures.replaceChildren(...charts.map((chart) => chartFigure.create(chart, data, state)));
    const sampled = data.points && data.points.count < data.examples
      ? ` Points are a random ${data.points.count.toLocaleString("en")} of them; everything else counts them all.` : "";
    root.replaceChildren(
      dom.make("div", { class: "controls" }, dom.select("Predicted class", [[-1, "all classes"], ...data.classes.map((name, group) => [group, name])], -1,
        (value) => { state.group = Number(value); drawAll(); }).element),
      dom.make("p", { class: "soft", text: `${data.examples.toLocaleString("en")} examples.${sampled}` }),
      figures, ...(runs.length > 1 ? [glanceOver(runs)] : []));
    drawAll();
  }

  /** A number of all runs, one line each. */
  function glanceOver(runs) {
    const lines = (key) => runs.map((run, at) => {
      const { columns, audits } = dom.json(`tables-${at}`);
      const [audit, measure, metric] = key.split("/");
      const line = (audits[audit] || []).find((each) => each[columns.indexOf("measure")] === measure && each[columns.indexOf("metric")] === metric && each[columns.indexOf("group")] === "all");
      return line && { run: `${at + 1}. ${run.title}`, ...Object.fromEntries(["mean", "low", "high", "floor", "ceiling"].map((name) => [name, line[columns.indexOf(name)]])) };
    }).filter(Boolean);
    const KEYS = { "agreement/gradient/tau": "tau with gradient", "agreement/leave_one_out/tau": "tau with leave-one-out", "permutation//tvd_median": "change when shuffled",
      "furthest//jsd_share": "furthest attention, share of the possible", "uniform_attention//accuracy_drop": "accuracy lost under uniform attention",
      "evidence/attention/hit": "top word is evidence", "dispersion/attention/entropy": "entropy" };
    const chart = { id: "glance", title: "All runs at a glance", caption: "Mean with 95 % interval; grey ticks are floor and ceiling.", wide: true,
      choices: Object.entries(KEYS), first: "permutation//tvd_median", draw: (_, view) => moreCharts.glance(lines(view.measure), view) };
    return dom.make("section", { class: "charts" }, chartFigure.create(chart, {}, { group: -1 }));
  }

  return { has, mount };
})();

// @ts-check
// The charts of the chosen run, with a choice of the predicted class.
const browse = (() => {
  "use strict";
  const CHARTS = [
    tauChart,
    permutationChart,
    changeChart,
    furthestChart,
    furthestByPeakChart,
    epsilonChart,
    deltaChart,
    flipsChart,
    removalChart,
    entropyChart,
    concentrationChart,
    matrixChart,
  ];

  /**
   * Charts of findings that are stored with the run: its corpus audits, and interventions.
   * @param {number} run
   * @returns {Chart[]}
   */
  function relatedCharts(run) {
    /** @type {RelatedFindings} */
    const related = dom.json("related") || { corpus: {}, interventions: [] };
    return [
      ...(related.corpus[run] || []).filter(informationChart.has).map(informationChart.of),
      ...related.interventions.map(interventionChart.of),
    ];
  }

  /**
   * @param {number} run
   * @returns {Chart[]}
   */
  const chartsOf = (run) => [
    ...CHARTS.filter((chart) => chart.has(dom.json(`charts-${run}`))),
    ...relatedCharts(run),
  ];

  /**
   * @param {number} run
   * @param {RunInfo[]} runs
   */
  const has = (run, runs) => runs.length > 1 || chartsOf(run).length > 0;

  /**
   * @param {HTMLElement} root
   * @param {number} run
   * @param {RunInfo[]} runs
   */
  function mount(root, run, runs) {
    /** @type {ChartData} */
    const data = dom.json(`charts-${run}`);
    const state = { group: chartParts.ALL };
    const charts = chartsOf(run);
    const figures = dom.make("div", { class: "charts" });
    const drawAll = () =>
      figures.replaceChildren(...charts.map((chart) => chartFigure.create(chart, data, state)));
    const choose = (/** @type {string} */ value) => {
      state.group = Number(value);
      drawAll();
    };
    /** @type {[number, string][]} */
    const classes = [[chartParts.ALL, "all classes"], ...data.classes.entries()];
    root.replaceChildren(
      dom.make(
        "div",
        { class: "controls" },
        dom.select("Predicted class", classes, chartParts.ALL, choose).element,
      ),
      dom.make("p", { class: "soft", text: countText(data) }),
      figures,
      ...(runs.length > 1 ? [allRuns(runs)] : []),
    );
    drawAll();
  }

  /** @param {ChartData} data */
  function countText(data) {
    const examples = `${data.examples.toLocaleString("en")} examples.`;
    if (!data.points || data.points.count >= data.examples) return examples;
    const points = data.points.count.toLocaleString("en");
    return `${examples} Points are a random sample of ${points}; everything else counts them all.`;
  }

  /** @param {RunInfo[]} runs */
  function allRuns(runs) {
    const state = { group: chartParts.ALL };
    const figure = chartFigure.create(allRunsChart.of(runs), /** @type {any} */ ({}), state);
    return dom.make("section", { class: "charts" }, figure);
  }

  return { has, mount };
})();

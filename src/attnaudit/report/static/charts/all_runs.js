// @ts-check
// One number of every run, with its interval, floor and ceiling.
const allRunsChart = (() => {
  "use strict";
  // audit/measure/metric -> what it is called
  const NUMBERS = {
    "agreement/gradient/tau": "tau with gradient",
    "agreement/leave_one_out/tau": "tau with leave-one-out",
    "permutation//tvd_median": "change when shuffled",
    "furthest//jsd_share": "furthest attention, share of the maximum",
    "uniform_attention//accuracy_drop": "accuracy lost under uniform attention",
    "evidence/attention/hit": "top word is evidence",
    "dispersion/attention/entropy": "entropy",
  };
  const PARTS = ["mean", "low", "high", "floor", "ceiling"];

  /**
   * The stored number of each run that has it.
   * @param {RunInfo[]} runs
   * @param {string} number
   * @returns {Row[]}
   */
  function lines(runs, number) {
    const [audit, measure, metric] = number.split("/");
    return runs.flatMap((run, index) => {
      /** @type {NumberTables} */
      const { columns, audits } = dom.json(`tables-${index}`);
      const column = (/** @type {string} */ name) => columns.indexOf(name);
      const line = (audits[audit] || []).find(
        (cells) =>
          cells[column("measure")] === measure &&
          cells[column("metric")] === metric &&
          cells[column("group")] === "all",
      );
      if (!line) return [];
      const parts = Object.fromEntries(PARTS.map((name) => [name, line[column(name)]]));
      return [{ run: `${index + 1}. ${run.title}`, ...parts }];
    });
  }

  /**
   * @param {Row[]} rows
   * @param {View} view
   * @returns {Drawing}
   */
  function draw(rows, view) {
    const { NAMED, key, params, quantity, tooltip } = chartParts;
    const values = rows.map((row, index) => ({ ...row, key: key(index) }));
    /** @type {Row} */
    const y = {
      field: "key",
      type: "nominal",
      title: null,
      sort: null,
      axis: { ...NAMED, labelLimit: Math.max(120, view.width * 0.4) },
    };
    const tick = (/** @type {string} */ field) => ({
      mark: { type: "tick", color: view.soft, thickness: 1.5, height: 12 },
      encoding: { y, x: quantity(field, null) },
    });
    const interval = {
      mark: { type: "rule", strokeWidth: 3, color: view.first, opacity: 0.5 },
      encoding: { y, x: quantity("low", null), x2: { field: "high" } },
    };
    const mean = {
      mark: { type: "point", filled: true, size: 55, color: view.first },
      encoding: {
        y,
        x: quantity("mean", null),
        tooltip: [...tooltip(["run"]), ...tooltip(PARTS, ".3f")],
      },
    };
    return {
      rows,
      height: Math.max(60, 22 * rows.length),
      spec: {
        params: params(rows.map((row) => row.run)),
        data: { values },
        layer: [tick("floor"), tick("ceiling"), interval, mean],
      },
    };
  }

  /**
   * @param {RunInfo[]} runs
   * @returns {Chart}
   */
  const of = (runs) => ({
    id: "glance",
    title: "All runs at a glance",
    caption: "Mean with 95 % interval; grey ticks are floor and ceiling.",
    wide: true,
    choices: Object.entries(NUMBERS),
    first: "permutation//tvd_median",
    draw: (_, view) => draw(lines(runs, view.measure), view),
  });

  return { of };
})();

// @ts-check
/** Furthest attention against the tolerance on the prediction. @type {Chart} */
const epsilonChart = {
  id: "epsilon",
  title: "How does the furthest distance grow with the tolerance ε?",
  caption:
    "Mean and quartiles over the examples. " +
    "Dashed: the certified bound, where it is above what was found; dotted: ln 2.",
  has: (data) => data.epsilon?.length,
  draw(data, view) {
    const { JSD_AXIS, LN2, className, quantity, tooltip } = chartParts;
    const title = "furthest attention (JSD)";
    /** @type {Row[]} */
    const rows = data.epsilon
      .filter((line) => line.class === view.group)
      .map((line) => ({ ...line, class: className(data, line.class) }));
    const isBounded = rows.some((row) => row.upper - row.mean > 1e-6);
    const x = quantity("epsilon", "ε: how far the prediction may move (TVD)", {
      scale: { type: "log" },
      axis: { format: "~g", values: rows.map((row) => row.epsilon) },
    });
    const y = (/** @type {string} */ field) =>
      quantity(field, title, { scale: { domain: [0, JSD_AXIS] } });
    const columns = ["epsilon", "low", "median", "mean", "high", "upper"];
    const quartiles = {
      mark: { type: "area", opacity: 0.2, color: view.first },
      encoding: { x, y: y("low"), y2: { field: "high" } },
    };
    const bound = {
      mark: { type: "line", strokeDash: [4, 3], color: view.second },
      encoding: { x, y: y("upper") },
    };
    const mean = {
      mark: { type: "line", point: true, color: view.first },
      encoding: { x, y: y("mean"), tooltip: tooltip(columns, "~g") },
    };
    const maximum = {
      data: { values: [{ most: LN2 }] },
      mark: { type: "rule", strokeDash: [2, 2], color: view.soft },
      encoding: { y: quantity("most", title) },
    };
    return {
      rows,
      spec: {
        data: { values: rows },
        layer: [quartiles, ...(isBounded ? [bound] : []), mean, maximum],
      },
    };
  },
};

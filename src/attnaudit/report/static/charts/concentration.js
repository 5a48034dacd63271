// @ts-check
/** Share of the attention that the top words hold. @type {Chart} */
const concentrationChart = {
  id: "concentration",
  title: "How many words hold the attention?",
  caption:
    "The share that the top words hold together: mean and quartiles over the examples that were " +
    "kept whole. Dashed: the same weight on all words. The earlier a curve reaches 1, the sparser.",
  has: (data) => data.concentration,
  measures: (data) => Object.keys(data.concentration.measures),
  first: "attention",
  draw(data, view) {
    const { quantity, tooltip } = chartParts;
    const { shares, measures } = data.concentration;
    const curve = measures[view.measure].find((line) => line.class === view.group);
    if (!curve) return null;
    const rows = shares.map((words, index) => ({
      words,
      mean: curve.mean[index],
      low: curve.low[index],
      high: curve.high[index],
    }));
    const x = quantity("words", "share of the words, highest first", {
      scale: { domain: [0, 1] },
    });
    const y = (/** @type {string} */ field) =>
      quantity(field, "share they hold", { scale: { domain: [0, 1] } });
    const uniform = {
      mark: { type: "line", strokeDash: [4, 3], strokeWidth: 1.5, color: view.ink },
      encoding: { x, y: y("words") },
    };
    const quartiles = {
      mark: { type: "area", opacity: 0.2, color: view.first },
      encoding: { x, y: y("low"), y2: { field: "high" } },
    };
    const mean = {
      mark: { type: "line", point: true, color: view.first },
      encoding: { x, y: y("mean"), tooltip: tooltip(["words", "low", "mean", "high"], ".2f") },
    };
    return { rows, spec: { data: { values: rows }, layer: [uniform, quartiles, mean] } };
  },
};

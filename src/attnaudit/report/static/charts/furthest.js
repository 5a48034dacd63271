// @ts-check
/** How far the attention can be moved with the prediction kept. @type {Chart} */
const furthestChart = {
  id: "furthest",
  title: "How different could the attention have been?",
  caption: "ε-max JSD: the furthest attention with the same prediction; at most 0.693.",
  has: (data) => data.jsd,
  draw(data, view) {
    const [measure] = Object.keys(data.jsd.measures);
    return histogram.draw(data, data.jsd, measure, view, "furthest attention (JSD)");
  },
};

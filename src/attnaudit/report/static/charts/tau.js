// @ts-check
/** Rank correlation of attention with each importance measure. @type {Chart} */
const tauChart = {
  id: "tau",
  title: "Does attention rank the words as a measure does?",
  caption:
    "Kendall’s tau per example: 1 is the same order, 0 is no relation. " +
    "Dashed: attention against random scores, the floor.",
  has: (data) => data.tau,
  measures: (data) => Object.keys(data.tau.measures).filter((name) => name !== "random"),
  first: "gradient",
  draw: (data, view) =>
    histogram.draw(data, data.tau, view.measure, view, "tau with attention", "random"),
};

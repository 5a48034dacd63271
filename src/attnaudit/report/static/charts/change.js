// @ts-check
/** Change of the prediction under permuted weights, one point per example. @type {Chart} */
const changeChart = {
  id: "change",
  title: "Change when shuffled, against the largest weight",
  caption:
    "One point per example. At the bottom right: large weights whose shuffling changes nothing.",
  has: (data) => data.points?.change,
  draw: (data, view) =>
    scatter.draw(
      data,
      view,
      { field: "max_attention", title: "largest weight" },
      { field: "change", title: "median change (TVD)", scale: { domain: [0, 1] } },
    ),
};

// @ts-check
/** Furthest attention, one point per example. @type {Chart} */
const furthestByPeakChart = {
  id: "furthest-widest",
  title: "Furthest attention, against the largest weight",
  caption:
    "A peak does not pin the attention down: " +
    "points at the top right could have looked quite different.",
  has: (data) => data.points?.jsd && data.points?.max_attention,
  draw: (data, view) =>
    scatter.draw(
      data,
      view,
      { field: "max_attention", title: "largest weight" },
      {
        field: "jsd",
        title: "furthest attention (JSD)",
        scale: { domain: [0, chartParts.JSD_AXIS] },
      },
    ),
};

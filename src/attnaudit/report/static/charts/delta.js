// @ts-check
/** The most attended word against a random one, one point per example. @type {Chart} */
const deltaChart = {
  id: "delta",
  title: "Does removing the top word change more than removing a random one?",
  caption: "ΔJS against Δalpha (Serrano & Smith): below 0 the random word changed more.",
  has: (data) => data.points?.delta_js,
  draw: (data, view) =>
    scatter.draw(
      data,
      view,
      { field: "delta_alpha", title: "Δalpha, top minus random" },
      { field: "delta_js", title: "ΔJS, top minus random", scale: { nice: true } },
    ),
};

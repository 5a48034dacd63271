// @ts-check
/** Change of the prediction under permuted weights, by the largest weight. @type {Chart} */
const permutationChart = {
  id: "permutation",
  title: "Does the prediction change when the weights are shuffled?",
  caption:
    "Median change over the shuffles, by the largest weight. " +
    "Mass on the left: the weights could be in any order.",
  has: (data) => data.violins?.length,
  draw(data, view) {
    const { byClass, className, isInView, key, params, quantity, withoutKeys } = chartParts;
    const bins = data.violins[0].counts.length;
    const values = data.violins
      .filter((violin) => isInView(view, violin.class))
      .flatMap((violin) => {
        const total = violin.counts.reduce((a, b) => a + b, 0);
        return violin.counts.map((count, bin) => ({
          key: key(violin.class),
          class: className(data, violin.class),
          largest: violin.peak,
          change: (bin + 0.5) / bins,
          share: count / total,
          count,
        }));
      });
    const peaks = [...new Set(data.violins.map((violin) => violin.peak))];
    return {
      rows: withoutKeys(values),
      spec: {
        params: params(data.classes),
        data: { values },
        facet: {
          row: {
            field: "largest",
            type: "nominal",
            title: "largest weight",
            sort: peaks.reverse(),
            header: { labelAngle: 0, labelAlign: "left" },
          },
        },
        spacing: 2,
        spec: {
          width: view.width - 130,
          height: 62,
          mark: { type: "area", interpolate: "monotone", opacity: 0.75 },
          encoding: {
            x: quantity("change", "median change when shuffled (TVD)", {
              scale: { domain: [0, 1] },
            }),
            y: quantity("share", null, { stack: "center", axis: null }),
            color: byClass(data, view),
            tooltip: [
              { field: "class" },
              { field: "largest" },
              { field: "change", format: ".3f" },
              { field: "count" },
            ],
          },
        },
        resolve: { scale: { y: "independent" } },
      },
    };
  },
};

// @ts-check
// A histogram stacked by predicted class, from counts that Python has made.
const histogram = (() => {
  "use strict";
  const { byClass, className, isInView, key, params, plain, quantity, tooltip, withoutKeys } =
    chartParts;

  /**
   * @param {ChartData} data
   * @param {Histograms} part
   * @param {string} measure
   * @param {View} view
   * @param {string} title of the horizontal axis
   * @param {string} [reference] a measure to draw as a dashed outline, if it was run
   * @returns {Drawing}
   */
  function draw(data, part, measure, view, title, reference) {
    const counts = part.measures[measure].counts;
    const width = (part.high - part.low) / counts[0].length;
    const edge = (/** @type {number} */ index) => part.low + index * width;
    const values = counts.flatMap((ofClass, group) =>
      !isInView(view, group)
        ? []
        : ofClass.map((count, bin) => ({
            key: key(group),
            class: className(data, group),
            from: edge(bin),
            to: edge(bin + 1),
            count,
          })),
    );
    const x = quantity("from", title, {
      bin: { binned: true, step: width },
      scale: { domain: [part.low, part.high] },
      axis: { tickCount: 8, format: ".2~f" },
    });
    const bars = {
      mark: { type: "bar", binSpacing: 0.5, opacity: 0.85 },
      encoding: {
        x,
        x2: { field: "to" },
        y: quantity("count", "examples", { stack: "zero" }),
        color: byClass(data, view),
        tooltip: [
          { field: "class" },
          { field: "from", format: ".3f" },
          { field: "to", format: ".3f" },
          { field: "count" },
        ],
      },
    };
    /** @type {object[]} */
    const layer = [bars];
    /** @type {Row[]} */
    let referenceRows = [];
    if (reference && part.measures[reference]) {
      const totals = sumInView(part.measures[reference].counts, view);
      const line = totals.map((floor, bin) => ({
        middle: part.low + (bin + 0.5) * width,
        floor,
      }));
      layer.push(outline(line, title, view));
      referenceRows = line.map(({ middle, floor }) => ({
        class: plain(reference),
        from: middle - width / 2,
        to: middle + width / 2,
        count: floor,
      }));
    }
    return {
      rows: [...withoutKeys(values), ...referenceRows],
      spec: { layer, params: params(data.classes), data: { values } },
    };
  }

  /**
   * Counts per bin, summed over the classes in view.
   * @param {number[][]} counts
   * @param {View} view
   */
  function sumInView(counts, view) {
    const totals = new Array(counts[0].length).fill(0);
    counts.forEach((ofClass, group) => {
      if (isInView(view, group)) ofClass.forEach((count, bin) => (totals[bin] += count));
    });
    return totals;
  }

  /**
   * @param {object[]} values
   * @param {string} title
   * @param {View} view
   */
  const outline = (values, title, view) => ({
    data: { values },
    mark: {
      type: "line",
      interpolate: "step",
      strokeDash: [4, 3],
      strokeWidth: 1.5,
      color: view.ink,
    },
    encoding: {
      x: quantity("middle", title),
      y: quantity("floor", "examples"),
      tooltip: [{ field: "middle", format: ".3f" }, ...tooltip(["floor"])],
    },
  });

  return { draw };
})();

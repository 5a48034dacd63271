// @ts-check
/** Rank correlation of every two measures. @type {Chart} */
const matrixChart = {
  id: "matrix",
  title: "Do the measures agree with each other?",
  caption:
    "Mean tau of every two, over the examples that were kept whole. " +
    "Attention cannot be expected to agree with them more than they agree with each other.",
  wide: true,
  has: (data) => data.matrix,
  draw(data, view) {
    const { NAMED, key, keys, params, plain, quantity, tooltip } = chartParts;
    const { names, cells } = data.matrix;
    const mirrored = cells.flatMap((cell) => [cell, { ...cell, a: cell.b, b: cell.a }]);
    const rows = mirrored.map((cell) => ({ ...cell, a: plain(cell.a), b: plain(cell.b) }));
    const values = rows.map((row, index) => ({
      ...row,
      across: key(names.indexOf(mirrored[index].a)),
      down: key(names.indexOf(mirrored[index].b)),
    }));
    /** @type {(field: string, labelAngle: number) => Row} */
    const axis = (field, labelAngle) => ({
      field,
      type: "nominal",
      title: null,
      scale: { domain: keys(names) },
      axis: { ...NAMED, labelAngle, labelLimit: 150, labelOverlap: false },
    });
    const place = { x: axis("across", -40), y: axis("down", 0) };
    const tiles = {
      mark: "rect",
      encoding: {
        ...place,
        tooltip: tooltip(["a", "b", "tau", "count"]),
        color: quantity("tau", "tau", {
          scale: { domain: [-1, 0, 1], range: view.diverging, interpolate: "rgb" },
          legend: { orient: "top", gradientLength: 140, gradientThickness: 8 },
        }),
      },
    };
    const figures = {
      mark: { type: "text", fontSize: 10 },
      encoding: {
        ...place,
        text: { field: "tau", format: ".2f" },
        color: {
          condition: { test: "abs(datum.tau) > 0.6", value: view.onStrong },
          value: view.ink,
        },
      },
    };
    return {
      rows,
      height: 26 * names.length,
      spec: {
        params: params(names.map(plain)),
        data: { values },
        layer: view.width < 380 ? [tiles] : [tiles, figures],
      },
    };
  },
};

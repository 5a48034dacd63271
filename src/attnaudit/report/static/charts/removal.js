// @ts-check
/** Share of the words to remove until the decision flips, per measure. @type {Chart} */
const removalChart = {
  id: "removal",
  title: "How many words must go until the decision flips?",
  caption:
    "Most important words first, by each measure: median, quartiles, 5 and 95 % of all examples; " +
    "1 where nothing flips. No ranking can beat the exact minimum.",
  has: (data) => data.removal?.length,
  draw(data, view) {
    const { NAMED, className, key, keys, params, plain, quantity, tooltip } = chartParts;
    const EXACT = "smallest set (exact)";
    /** @type {Row[]} */
    const rows = data.removal
      .filter((line) => line.class === view.group)
      .map((line) => ({
        ...line,
        class: className(data, line.class),
        measure: line.measure === "smallest_set" ? EXACT : plain(line.measure),
        ever: line.flipped / line.count,
      }));
    if (!rows.length) return null;
    const exactFirst = (/** @type {Row} */ row) => Number(row.measure !== EXACT);
    rows.sort(
      (a, b) =>
        exactFirst(a) - exactFirst(b) || a.q50 - b.q50 || a.q75 - b.q75 || b.flipped - a.flipped,
    );
    const values = rows.map((row, index) => ({ ...row, key: key(index) }));
    const title = "share of words removed until the decision flips";
    /** @type {Row} */
    const y = {
      field: "key",
      type: "nominal",
      title: null,
      scale: { domain: keys(rows) },
      axis: { ...NAMED, labelLimit: 170 },
    };
    const color = {
      condition: { test: `datum.measure === '${EXACT}'`, value: view.second },
      value: view.first,
    };
    const columns = tooltip(["measure", "q5", "q25", "q50", "q75", "q95", "flipped", "count"]);
    const range = {
      mark: "rule",
      encoding: {
        y,
        x: quantity("q5", title, { scale: { domain: [0, 1] } }),
        x2: { field: "q95" },
        color,
      },
    };
    const quartiles = {
      mark: { type: "bar", height: 12, opacity: 0.55 },
      encoding: { y, x: quantity("q25", title), x2: { field: "q75" }, color, tooltip: columns },
    };
    const median = {
      mark: { type: "tick", thickness: 2, height: 14, color: view.ink },
      encoding: { y, x: quantity("q50", title), tooltip: columns },
    };
    return {
      rows,
      height: 24 * rows.length,
      spec: {
        params: params(rows.map((row) => row.measure)),
        data: { values },
        layer: [range, quartiles, median],
      },
    };
  },
};

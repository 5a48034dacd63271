// The plots of the debate as Vega-Lite specifications: numbers in, {rows, spec} out. rows are also what the CSV holds.
const chartSpecs = (() => {
  "use strict";
  const LN2 = Math.log(2);
  const plain = (name) => name.replaceAll("_", " ");

  /** group -1 is all examples together; a view of one class keeps that one. */
  const inView = (view) => (group) => view.group < 0 || group === view.group;
  const className = (data, group) => (group < 0 ? "all" : data.classes[group]);

  /**
   * Names from the data never reach Vega as values to group by: it keeps groups in plain objects, where "constructor" is there before it is
   * put in. It gets keys, and writes the names for them.
   */
  const key = (at) => `k${at}`;
  const keys = (names) => names.map((_, at) => key(at));
  const NAMED = { labelExpr: "names[toNumber(slice(datum.value, 1))]" };
  const params = (names) => [{ name: "names", value: names.map(dom.shown) }];
  /** What is drawn without the keys: for the CSV. */
  const rowsOf = (values) => values.map(({ key: _, ...row }) => row);

  const colour = (data, view, title = "predicted") => ({ field: "key", type: "nominal", title,
    scale: { domain: keys(data.classes) }, legend: data.classes.length > 1 ? { ...NAMED, orient: "top", title, labelLimit: 140, columns: Math.max(1, Math.floor(view.width / 130)) } : null });
  const quantity = (field, title, extra = {}) => ({ field, type: "quantitative", title, ...extra });

  const told = (...fields) => fields.map((field) => (typeof field === "string" ? { field } : field));

  /** Histograms by class, side by side in each bin's height; `beside`: counts of another measure as a line. */
  function histogram(data, part, measure, view, title, beside) {
    const bins = part.measures[measure].counts[0].length, width = (part.high - part.low) / bins;
    const values = [], beyond = [];
    part.measures[measure].counts.forEach((counts, group) => {
      if (!inView(view)(group)) return;
      counts.forEach((count, at) => values.push({ key: key(group), class: className(data, group), from: part.low + at * width, to: part.low + (at + 1) * width, count }));
    });
    const layer = [{ mark: { type: "bar", binSpacing: 0.5, opacity: 0.85 }, encoding: {
      x: quantity("from", title, { bin: { binned: true, step: width }, scale: { domain: [part.low, part.high] }, axis: { tickCount: 8, format: ".2~f" } }),
      x2: { field: "to" }, y: quantity("count", "examples", { stack: "zero" }), color: colour(data, view),
      tooltip: told("class", { field: "from", format: ".3f" }, { field: "to", format: ".3f" }, "count") } }];
    if (beside && part.measures[beside]) {
      const totals = new Array(bins).fill(0);
      part.measures[beside].counts.forEach((counts, group) => { if (inView(view)(group)) counts.forEach((count, at) => { totals[at] += count; }); });
      const line = totals.map((floor, at) => ({ middle: part.low + (at + 0.5) * width, floor }));
      layer.push({ data: { values: line }, mark: { type: "line", interpolate: "step", strokeDash: [4, 3], strokeWidth: 1.5, color: view.ink },
        encoding: { x: quantity("middle", title), y: quantity("floor", "examples"), tooltip: told({ field: "middle", format: ".3f" }, "floor") } });
      line.forEach(({ middle, floor }) => beyond.push({ class: plain(beside), from: middle - width / 2, to: middle + width / 2, count: floor }));
    }
    return { rows: [...rowsOf(values), ...beyond], spec: { layer, params: params(data.classes), data: { values } } };
  }

  function points(data, x, y, view) {
    const raw = data.points;
    if (!raw?.[x] || !raw[y]) return null;
    const xs = unpack.float32(raw[x]), ys = unpack.float32(raw[y]), groups = atob(raw.class);
    const rows = [];
    xs.forEach((value, at) => {
      const group = groups.charCodeAt(at);
      if (inView(view)(group) && Number.isFinite(value) && Number.isFinite(ys[at])) rows.push({ key: key(group), class: className(data, group), [x]: value, [y]: ys[at] });
    });
    return rows;
  }

  function scatter(data, view, x, y, xTitle, yTitle, most) {
    const values = points(data, x, y, view);
    return values && { rows: rowsOf(values), spec: { params: params(data.classes), data: { values }, mark: { type: "point", filled: true, size: 18, opacity: 0.45 }, encoding: {
      x: quantity(x, xTitle, { scale: { domain: [0, 1] } }), y: quantity(y, yTitle, { scale: { domain: [0, most] } }), color: colour(data, view),
      shape: colour(data, view),
      tooltip: told("class", { field: x, format: ".4f" }, { field: y, format: ".4f" }) } } };
  }

  function violins(data, view) {
    const bins = data.violins[0].counts.length;
    const values = data.violins.filter((each) => inView(view)(each.class)).flatMap((each) => {
      const total = each.counts.reduce((a, b) => a + b, 0);
      return each.counts.map((count, at) => ({ key: key(each.class), class: className(data, each.class), largest: each.widest, change: (at + 0.5) / bins, share: count / total, count }));
    });
    return { rows: rowsOf(values), spec: { params: params(data.classes), data: { values }, facet: { row: { field: "largest", type: "nominal", title: "largest weight", sort: ["0.75–1", "0.5–0.75", "0.25–0.5", "0–0.25"],
      header: { labelAngle: 0, labelAlign: "left" } } },
    spacing: 2, spec: { width: view.width - 130, height: 62, mark: { type: "area", interpolate: "monotone", opacity: 0.75 }, encoding: {
      x: quantity("change", "median change when shuffled (TVD)", { scale: { domain: [0, 1] } }),
      y: quantity("share", null, { stack: "center", axis: null }), color: colour(data, view),
      tooltip: told("class", "largest", { field: "change", format: ".3f" }, "count") } }, resolve: { scale: { y: "independent" } } } };
  }

  function epsilon(data, view) {
    const rows = data.epsilon.filter((each) => (view.group < 0 ? each.class < 0 : each.class === view.group)).map((each) => ({ ...each, class: className(data, each.class) }));
    const bounded = rows.some((row) => row.upper - row.mean > 1e-6);
    const x = quantity("epsilon", "ε: how far the prediction may move (TVD)", { scale: { type: "log" }, axis: { format: "~g", values: rows.map((row) => row.epsilon) } });
    const y = (field) => quantity(field, "furthest attention (JSD)", { scale: { domain: [0, 0.7] } });
    const tooltip = ["epsilon", "low", "median", "mean", "high", "upper"].map((field) => ({ field, format: "~g" }));
    return { rows, spec: { data: { values: rows }, layer: [
      { mark: { type: "area", opacity: 0.2, color: view.first }, encoding: { x, y: y("low"), y2: { field: "high" } } },
      ...(bounded ? [{ mark: { type: "line", strokeDash: [4, 3], color: view.second }, encoding: { x, y: y("upper") } }] : []),
      { mark: { type: "line", point: true, color: view.first }, encoding: { x, y: y("mean"), tooltip } },
      { data: { values: [{ most: LN2 }] }, mark: { type: "rule", strokeDash: [2, 2], color: view.soft }, encoding: { y: quantity("most", "furthest attention (JSD)") } }] } };
  }

  return { NAMED, className, epsilon, histogram, key, keys, params, plain, quantity, rowsOf, scatter, violins };
})();

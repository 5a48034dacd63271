// More plots: removals, the matrix of measures, mutual information, interventions, all runs at a glance.
const moreCharts = (() => {
  "use strict";
  const { NAMED, key, keys, params, plain, quantity, rowsOf } = chartSpecs;
  const EXACT = "smallest set (exact)";

  function removal(data, view) {
    const wanted = view.group < 0 ? -1 : view.group;
    const rows = data.removal.filter((each) => each.class === wanted).map((each) => ({ ...each, class: chartSpecs.className(data, each.class),
      measure: each.measure === "smallest_set" ? EXACT : plain(each.measure), ever: each.flipped / each.count }));
    const exact = (row) => Number(row.measure !== EXACT);
    rows.sort((a, b) => exact(a) - exact(b) || a.q50 - b.q50 || a.q75 - b.q75 || b.flipped - a.flipped);
    const values = rows.map((row, at) => ({ ...row, key: key(at) }));
    const y = { field: "key", type: "nominal", title: null, scale: { domain: keys(rows) }, axis: { ...NAMED, labelLimit: 170 } };
    const tooltip = ["measure", "q5", "q25", "q50", "q75", "q95", "flipped", "count"].map((field) => ({ field }));
    const mark = { condition: { test: `datum.measure === '${EXACT}'`, value: view.second }, value: view.first };
    const title = "share of words removed until the decision flips";
    return rows.length ? { rows, height: 24 * rows.length, spec: { params: params(rows.map((row) => row.measure)), data: { values }, layer: [
      { mark: "rule", encoding: { y, x: quantity("q5", title, { scale: { domain: [0, 1] } }), x2: { field: "q95" }, color: mark } },
      { mark: { type: "bar", height: 12, opacity: 0.55 }, encoding: { y, x: quantity("q25", title), x2: { field: "q75" }, color: mark, tooltip } },
      { mark: { type: "tick", thickness: 2, height: 14, color: view.ink }, encoding: { y, x: quantity("q50", title), tooltip } }] } } : null;
  }

  function concentration(data, view) {
    const { shares, measures } = data.concentration;
    const found = measures[view.measure].find((each) => each.class === view.group);
    if (!found) return null;
    const rows = shares.map((words, at) => ({ words, mean: found.mean[at], low: found.low[at], high: found.high[at] }));
    const x = quantity("words", "share of the words, highest first", { scale: { domain: [0, 1] } });
    const y = (field) => quantity(field, "share they hold", { scale: { domain: [0, 1] } });
    const tooltip = ["words", "low", "mean", "high"].map((field) => ({ field, format: ".2f" }));
    return { rows, spec: { data: { values: rows }, layer: [
      { mark: { type: "line", strokeDash: [4, 3], strokeWidth: 1.5, color: view.ink }, encoding: { x, y: y("words") } },
      { mark: { type: "area", opacity: 0.2, color: view.first }, encoding: { x, y: y("low"), y2: { field: "high" } } },
      { mark: { type: "line", point: true, color: view.first }, encoding: { x, y: y("mean"), tooltip } }] } };
  }

  function matrix(data, view) {
    const { names, cells } = data.matrix;
    const both = cells.flatMap((cell) => [cell, { ...cell, a: cell.b, b: cell.a }]);
    const rows = both.map((cell) => ({ ...cell, a: plain(cell.a), b: plain(cell.b) }));
    const values = rows.map((row, at) => ({ ...row, across: key(names.indexOf(both[at].a)), down: key(names.indexOf(both[at].b)) }));
    const axis = (field) => ({ field, type: "nominal", title: null, scale: { domain: keys(names) }, axis: { ...NAMED, labelAngle: field === "across" ? -40 : 0, labelLimit: 150, labelOverlap: false } });
    return { rows, height: 26 * names.length, spec: { params: params(names.map(plain)), data: { values }, layer: [
      { mark: "rect", encoding: { x: axis("across"), y: axis("down"), tooltip: ["a", "b", "tau", "count"].map((field) => ({ field })),
        color: quantity("tau", "tau", { scale: { domain: [-1, 0, 1], range: view.diverging, interpolate: "rgb" }, legend: { orient: "top", gradientLength: 140, gradientThickness: 8 } }) } },
      ...(view.width < 380 ? [] : [{ mark: { type: "text", fontSize: 10 }, encoding: { x: axis("across"), y: axis("down"), text: { field: "tau", format: ".2f" },
        color: { condition: { test: "abs(datum.tau) > 0.6", value: view.onStrong }, value: view.ink } } }])] } };
  }

  /** How much the words at each rank of attention tell about the output. */
  function information(found, view) {
    const kinds = { mi: "the word's state", mi_of_input: "the word itself", mi_floor: "shuffled (floor)" };
    const rows = found.detail.flatMap((line) => Object.entries(kinds).filter(([key]) => key in line)
      .map(([key, kind]) => ({ rank: line.rank, kind, information: line[key], mean_attention: line.mean_attention })));
    return { rows, spec: { data: { values: rows }, mark: { type: "line", point: { size: 22 } }, encoding: {
      x: quantity("rank", "rank by attention, 1 = most attended"), y: quantity("information", "mutual information"),
      color: kind(), strokeDash: kind(),
      tooltip: [{ field: "kind" }, { field: "rank" }, { field: "information", format: ".3f" }, { field: "mean_attention", format: ".3f" }] } } };
  }

  /** The same model under projections from dense to sparse. */
  function sweep(found) {
    const kinds = { tau_gradient: "tau with gradient", tau_random: "tau with random", furthest_jsd: "furthest attention (JSD)", accuracy: "accuracy" };
    const name = (line) => plain(line.projection) + (line.value === null ? "" : ` ${line.value}`);
    const values = found.summary.flatMap((line, at) => Object.entries(kinds).filter(([column]) => column in line)
      .map(([column, told]) => ({ key: key(at), projection: name(line), kind: told, mean: line[column], low: line[`${column}_low`] ?? line[column], high: line[`${column}_high`] ?? line[column] })));
    const x = { field: "key", type: "nominal", title: null, sort: null, axis: { ...NAMED, labelAngle: -40 } };
    const tooltip = ["projection", "kind", "mean", "low", "high"].map((field) => ({ field }));
    return { rows: rowsOf(values), spec: { params: params(found.summary.map(name)), data: { values }, layer: [
      { mark: { type: "rule" }, encoding: { x, y: quantity("low", "mean"), y2: { field: "high" }, color: kind() } },
      { mark: { type: "point", filled: true, size: 45 }, encoding: { x, y: quantity("mean", "mean"), color: kind(), shape: marked(), tooltip } }] } };
  }

  /** Interventions: how far attention moved for how much change of prediction, between seeds, or over the sparsity. */
  function apart(found, view) {
    if (found.name === "sparsity") return sweep(found);
    const twins = found.summary.filter((line) => line.jsd !== undefined && line.tvd !== undefined && line.lam !== undefined);
    if (twins.length) {
      const rows = twins.map((line) => ({ ...line, kind: line.kind === "seed" ? "other seeds" : "adversarial twins" }));
      return { rows, spec: { data: { values: rows }, layer: [
        { mark: { type: "rule" }, encoding: { x: quantity("tvd_low", "change of predictions (TVD)"), x2: { field: "tvd_high" }, y: quantity("jsd", "distance of attention (JSD)"), color: kind() } },
        { mark: { type: "rule" }, encoding: { x: quantity("tvd", "change of predictions (TVD)"), y: quantity("jsd_low", "distance of attention (JSD)"), y2: { field: "jsd_high" }, color: kind() } },
        { mark: { type: "point", filled: true, size: 60 }, encoding: { x: quantity("tvd", "change of predictions (TVD)"), y: quantity("jsd", "distance of attention (JSD)", { scale: { domain: [0, 0.7] } }), color: kind(),
          shape: marked(), tooltip: ["kind", "lam", "tvd", "jsd", "accuracy"].map((field) => ({ field })) } }] } };
    }
    if (found.examples.length && found.examples[0].max_attention !== undefined) {
      const rows = found.examples;
      return { rows, spec: { data: { values: rows }, mark: { type: "point", filled: true, size: 18, opacity: 0.45, color: view.first }, encoding: {
        x: quantity("max_attention", "largest attention weight", { scale: { domain: [0, 1] } }), y: quantity("jsd", "JSD between models", { scale: { domain: [0, 0.7] } }),
        tooltip: ["max_attention", "jsd", "tvd"].map((field) => ({ field, format: ".3f" })) } } };
    }
    return null;
  }
  // In layers that do not all have shapes the two legends are not made one.
  const marked = () => ({ ...kind(), legend: null });
  const kind = () => ({ field: "kind", type: "nominal", title: null, legend: { orient: "top" } });

  /** One number of every run, with its interval, floor and ceiling. */
  function glance(lines, view) {
    const rows = lines;
    const values = rows.map((row, at) => ({ ...row, key: key(at) }));
    const y = { field: "key", type: "nominal", title: null, sort: null, axis: { ...NAMED, labelLimit: Math.max(120, view.width * 0.4) } };
    const tooltip = ["run", "mean", "low", "high", "floor", "ceiling"].map((field) => ({ field, ...(field === "run" ? {} : { format: ".3f" }) }));
    return { rows, height: Math.max(60, 22 * rows.length), spec: { params: params(rows.map((row) => row.run)), data: { values }, layer: [
      { mark: { type: "tick", color: view.soft, thickness: 1.5, height: 12 }, encoding: { y, x: quantity("floor", null) } },
      { mark: { type: "tick", color: view.soft, thickness: 1.5, height: 12 }, encoding: { y, x: quantity("ceiling", null) } },
      { mark: { type: "rule", strokeWidth: 3, color: view.first, opacity: 0.5 }, encoding: { y, x: quantity("low", null), x2: { field: "high" } } },
      { mark: { type: "point", filled: true, size: 55, color: view.first }, encoding: { y, x: quantity("mean", null), tooltip } }] } };
  }

  return { apart, concentration, glance, information, matrix, removal };
})();

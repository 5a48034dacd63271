// @ts-check
// Findings of an intervention: adversarial twins, seeds, sparsity; a table for all others.
const interventionChart = (() => {
  "use strict";
  const { JSD_AXIS, NAMED, byKind, key, params, plain, quantity, shapeByKind } = chartParts;
  const { tooltip, withoutKeys } = chartParts;
  const SWEPT = {
    tau_gradient: "tau with gradient",
    tau_random: "tau with random",
    furthest_jsd: "furthest attention (JSD)",
    accuracy: "accuracy",
  };

  /**
   * The same model under projections from dense to sparse.
   * @param {Findings} findings
   * @returns {Drawing}
   */
  function sparsity(findings) {
    const name = (/** @type {Row} */ line) =>
      plain(line.projection) + (line.value === null ? "" : ` ${line.value}`);
    const values = findings.summary.flatMap((line, index) =>
      Object.entries(SWEPT)
        .filter(([column]) => column in line)
        .map(([column, kind]) => ({
          key: key(index),
          projection: name(line),
          kind,
          mean: line[column],
          low: line[`${column}_low`] ?? line[column],
          high: line[`${column}_high`] ?? line[column],
        })),
    );
    /** @type {Row} */
    const x = {
      field: "key",
      type: "nominal",
      title: null,
      sort: null,
      axis: { ...NAMED, labelAngle: -40 },
    };
    const intervals = {
      mark: { type: "rule" },
      encoding: { x, y: quantity("low", "mean"), y2: { field: "high" }, color: byKind() },
    };
    const means = {
      mark: { type: "point", filled: true, size: 45 },
      encoding: {
        x,
        y: quantity("mean", "mean"),
        color: byKind(),
        shape: shapeByKind(),
        tooltip: tooltip(["projection", "kind", "mean", "low", "high"]),
      },
    };
    return {
      rows: withoutKeys(values),
      spec: {
        params: params(findings.summary.map(name)),
        data: { values },
        layer: [intervals, means],
      },
    };
  }

  /**
   * Distance of attention against change of predictions, for adversarial twins and other seeds.
   * @param {Row[]} lines
   * @returns {Drawing}
   */
  function twins(lines) {
    const [xTitle, yTitle] = ["change of predictions (TVD)", "distance of attention (JSD)"];
    const rows = lines.map((line) => ({
      ...line,
      kind: line.kind === "seed" ? "other seeds" : "adversarial twins",
    }));
    const across = {
      mark: { type: "rule" },
      encoding: {
        x: quantity("tvd_low", xTitle),
        x2: { field: "tvd_high" },
        y: quantity("jsd", yTitle),
        color: byKind(),
      },
    };
    const upright = {
      mark: { type: "rule" },
      encoding: {
        x: quantity("tvd", xTitle),
        y: quantity("jsd_low", yTitle),
        y2: { field: "jsd_high" },
        color: byKind(),
      },
    };
    const points = {
      mark: { type: "point", filled: true, size: 60 },
      encoding: {
        x: quantity("tvd", xTitle),
        y: quantity("jsd", yTitle, { scale: { domain: [0, JSD_AXIS] } }),
        color: byKind(),
        shape: shapeByKind(),
        tooltip: tooltip(["kind", "lam", "tvd", "jsd", "accuracy"]),
      },
    };
    return { rows, spec: { data: { values: rows }, layer: [across, upright, points] } };
  }

  /**
   * Distance between seeds against the largest weight, one point per example.
   * @param {Row[]} rows
   * @param {View} view
   * @returns {Drawing}
   */
  const seeds = (rows, view) => ({
    rows,
    spec: {
      data: { values: rows },
      mark: { type: "point", filled: true, size: 18, opacity: 0.45, color: view.first },
      encoding: {
        x: quantity("max_attention", "largest attention weight", { scale: { domain: [0, 1] } }),
        y: quantity("jsd", "JSD between models", { scale: { domain: [0, JSD_AXIS] } }),
        tooltip: tooltip(["max_attention", "jsd", "tvd"], ".3f"),
      },
    },
  });

  /**
   * The summary as a table.
   * @param {Findings} findings
   * @returns {Drawing}
   */
  function summaryTable({ summary }) {
    const columns = [...new Set(summary.flatMap((line) => Object.keys(line)))];
    const lines = summary.map((line) => columns.map((name) => line[name]));
    return { rows: summary, element: numbers.table(columns, lines) };
  }

  /**
   * How these findings are drawn; null if only a table can show them.
   * @param {Findings} findings
   * @returns {((data: ChartData, view: View) => Drawing) | null}
   */
  function drawer(findings) {
    if (findings.name === "sparsity") return () => sparsity(findings);
    const lines = findings.summary.filter((line) =>
      ["jsd", "tvd", "lam"].every((column) => line[column] !== undefined),
    );
    if (lines.length) return () => twins(lines);
    const { examples } = findings;
    if (examples.length && examples[0].max_attention !== undefined) {
      return (_, view) => seeds(examples, view);
    }
    return null;
  }

  /**
   * @param {Findings} findings
   * @param {number} index
   * @returns {Chart}
   */
  function of(findings, index) {
    const answer = findings.answer ? `${findings.answer} ` : "";
    const draw = drawer(findings);
    return {
      id: `intervention-${index}`,
      title: findings.question,
      caption: `${answer}Intervention ${findings.name} (${findings.id}).`,
      ...(draw ? { draw } : { table: () => summaryTable(findings) }),
    };
  }

  return { of };
})();

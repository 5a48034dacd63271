// @ts-check
// Mutual information with the output, by rank of attention: a corpus audit stored with the run.
const informationChart = (() => {
  "use strict";
  const KINDS = {
    mi: "the word's state",
    mi_of_input: "the word itself",
    mi_floor: "shuffled (floor)",
  };

  /**
   * @param {Findings} findings
   * @returns {Drawing}
   */
  function draw(findings) {
    const { byKind, quantity } = chartParts;
    const rows = findings.detail.flatMap((line) =>
      Object.entries(KINDS)
        .filter(([column]) => column in line)
        .map(([column, kind]) => ({
          rank: line.rank,
          kind,
          information: line[column],
          mean_attention: line.mean_attention,
        })),
    );
    return {
      rows,
      spec: {
        data: { values: rows },
        mark: { type: "line", point: { size: 22 } },
        encoding: {
          x: quantity("rank", "rank by attention, 1 = most attended"),
          y: quantity("information", "mutual information"),
          color: byKind(),
          strokeDash: byKind(),
          tooltip: [
            { field: "kind" },
            { field: "rank" },
            { field: "information", format: ".3f" },
            { field: "mean_attention", format: ".3f" },
          ],
        },
      },
    };
  }

  /** @param {Findings} findings */
  const has = (findings) => findings.detail.length > 0 && "mi" in findings.detail[0];

  /**
   * @param {Findings} findings
   * @returns {Chart}
   */
  const of = (findings) => ({
    id: "mi",
    title: findings.question,
    caption:
      "Mutual information by rank of attention; " +
      "for comparison, dashed, that of the words themselves and the shuffled floor.",
    draw: () => draw(findings),
  });

  return { has, of };
})();

// @ts-check
// What the charts share: keys in place of names, axes, colours, and which class is in view.
const chartParts = (() => {
  "use strict";
  const ALL = -1; // the group of all examples together
  const LN2 = Math.log(2); // the largest JSD there is
  const JSD_AXIS = 0.7; // the end of an axis of JSD

  /** @param {string} name */
  const plain = (name) => name.replaceAll("_", " ");

  /**
   * Is this group in view? All groups are, unless one class is chosen.
   * @param {View} view
   * @param {number} group
   */
  const isInView = (view, group) => view.group === ALL || group === view.group;

  /**
   * @param {ChartData} data
   * @param {number} group
   */
  const className = (data, group) => (group === ALL ? "all" : data.classes[group]);

  // Names from the data never reach Vega as values to group by: it keeps groups in plain objects,
  // where "constructor" exists from the start. Vega gets keys, and looks up the names to print.
  /** @param {number} index */
  const key = (index) => `k${index}`;
  /** @param {unknown[]} names */
  const keys = (names) => names.map((_, index) => key(index));
  const NAMED = { labelExpr: "names[toNumber(slice(datum.value, 1))]" };
  /** @param {string[]} names */
  const params = (names) => [{ name: "names", value: names.map(dom.shown) }];
  /**
   * The drawn values without their keys, for the CSV file.
   * @param {Row[]} values
   * @returns {Row[]}
   */
  const withoutKeys = (values) => values.map(({ key: _, ...row }) => row);

  /**
   * Colour (or shape) by predicted class.
   * @param {ChartData} data
   * @param {View} view
   */
  function byClass(data, view) {
    const title = "predicted";
    const columns = Math.max(1, Math.floor(view.width / 130));
    const legend = { ...NAMED, orient: "top", title, labelLimit: 140, columns };
    return {
      field: "key",
      type: "nominal",
      title,
      scale: { domain: keys(data.classes) },
      legend: data.classes.length > 1 ? legend : null,
    };
  }

  /**
   * Colour by the column `kind`.
   * @returns {Row}
   */
  const byKind = () => ({ field: "kind", type: "nominal", title: null, legend: { orient: "top" } });

  /**
   * Shape by the column `kind`. No legend: Vega does not merge it with that of another layer.
   * @returns {Row}
   */
  const shapeByKind = () => ({ ...byKind(), legend: null });

  /**
   * A numeric axis.
   * @param {string} field
   * @param {string | null} title
   * @param {object} [extra]
   */
  const quantity = (field, title, extra = {}) => ({ field, type: "quantitative", title, ...extra });

  /**
   * Columns for a tooltip, all in one number format if one is given.
   * @param {string[]} fields
   * @param {string} [format]
   */
  const tooltip = (fields, format) =>
    fields.map((field) => (format ? { field, format } : { field }));

  return {
    ALL,
    JSD_AXIS,
    LN2,
    NAMED,
    byClass,
    byKind,
    className,
    isInView,
    key,
    keys,
    params,
    plain,
    quantity,
    shapeByKind,
    tooltip,
    withoutKeys,
  };
})();

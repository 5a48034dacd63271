// @ts-check
// A scatter plot with one point per example, coloured by predicted class.
const scatter = (() => {
  "use strict";
  const { byClass, className, isInView, key, params, quantity, withoutKeys } = chartParts;

  /**
   * The packed points with both numbers defined, of the classes in view; null without the numbers.
   * @param {ChartData} data
   * @param {string} x
   * @param {string} y
   * @param {View} view
   */
  function points(data, x, y, view) {
    const packed = data.points;
    if (!packed?.[x] || !packed[y]) return null;
    const xs = unpack.float32(packed[x]);
    const ys = unpack.float32(packed[y]);
    const groups = atob(packed.class);
    /** @type {Row[]} */
    const rows = [];
    xs.forEach((value, index) => {
      const group = groups.charCodeAt(index);
      if (!isInView(view, group) || !Number.isFinite(value) || !Number.isFinite(ys[index])) return;
      rows.push({ key: key(group), class: className(data, group), [x]: value, [y]: ys[index] });
    });
    return rows;
  }

  /**
   * @param {ChartData} data
   * @param {View} view
   * @param {{field: string, title: string}} x a share, from 0 to 1
   * @param {{field: string, title: string, scale: object}} y
   * @returns {Drawing | null}
   */
  function draw(data, view, x, y) {
    const values = points(data, x.field, y.field, view);
    if (!values) return null;
    return {
      rows: withoutKeys(values),
      spec: {
        params: params(data.classes),
        data: { values },
        mark: { type: "point", filled: true, size: 18, opacity: 0.45 },
        encoding: {
          x: quantity(x.field, x.title, { scale: { domain: [0, 1] } }),
          y: quantity(y.field, y.title, { scale: y.scale }),
          color: byClass(data, view),
          shape: byClass(data, view),
          tooltip: [
            { field: "class" },
            { field: x.field, format: ".4f" },
            { field: y.field, format: ".4f" },
          ],
        },
      },
    };
  }

  return { draw };
})();

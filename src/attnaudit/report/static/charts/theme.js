// @ts-check
// The colours of the charts, in a light and a dark page.
const chartTheme = (() => {
  "use strict";
  const DARK = "(prefers-color-scheme: dark)";
  const isDark = () => matchMedia(DARK).matches && !matchMedia("print").matches;
  // Okabe & Ito, lightened for a dark page
  const PALETTE = {
    light: ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8C6D00", "#3D9BD4", "#5B5B5B", "#7A3E9D"],
    dark: ["#5DB7EE", "#FF9B5E", "#3FCB9F", "#E7A6C9", "#E6C229", "#9AD5F7", "#B8B8B8", "#C79BE8"],
  };
  const DIVERGING = {
    light: ["#C9622B", "#f4f4f2", "#1F6FA8"],
    dark: ["#D9743F", "#22272e", "#4CA3DD"],
  };

  /** The colours of the page as it is shown now. */
  function colours() {
    const style = getComputedStyle(document.body);
    const read = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    const scheme = isDark() ? "dark" : "light";
    const palette = PALETTE[scheme];
    return {
      ink: read("--ink"),
      soft: read("--soft"),
      line: read("--line"),
      paper: read("--paper"),
      first: palette[0],
      second: palette[1],
      colours: palette,
      diverging: DIVERGING[scheme],
      onStrong: scheme === "dark" ? "#0d1117" : "#ffffff",
    };
  }

  /**
   * @param {View} view
   * @returns {Row}
   */
  const config = (view) => ({
    background: view.paper,
    font: "system-ui, sans-serif",
    view: { stroke: null },
    range: { category: view.colours },
    axis: {
      labelColor: view.soft,
      titleColor: view.soft,
      gridColor: view.line,
      gridOpacity: 0.6,
      domainColor: view.line,
      tickColor: view.line,
      titleFontWeight: "normal",
      labelFontSize: 11,
      titleFontSize: 12,
      titlePadding: 8,
      labelOverlap: "greedy",
    },
    legend: {
      labelColor: view.ink,
      titleColor: view.soft,
      titleFontWeight: "normal",
      symbolType: "circle",
      titleOrient: "left",
    },
    header: { labelColor: view.soft, titleColor: view.soft, titleFontWeight: "normal" },
  });

  return { DARK, colours, config };
})();

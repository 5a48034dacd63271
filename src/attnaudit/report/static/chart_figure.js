// One chart with its question, how to read it, its own choice, and what it can be saved as.
const chartFigure = (() => {
  "use strict";
  const plainNames = new Map([["between_measures", "measures with each other"]]);
  const named = (name) => plainNames.get(name) ?? name.replaceAll("_", " ").replace("|", " with ");

  const dark = () => matchMedia("(prefers-color-scheme: dark)").matches && !matchMedia("print").matches;
  const PALETTE = { // Okabe & Ito, lightened for a dark page
    light: ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8C6D00", "#3D9BD4", "#5B5B5B", "#7A3E9D"],
    dark: ["#5DB7EE", "#FF9B5E", "#3FCB9F", "#E7A6C9", "#E6C229", "#9AD5F7", "#B8B8B8", "#C79BE8"],
  };

  function look(width) {
    const style = getComputedStyle(document.body);
    const read = (name) => style.getPropertyValue(name).trim();
    const colours = PALETTE[dark() ? "dark" : "light"];
    return { ink: read("--ink"), soft: read("--soft"), line: read("--line"), paper: read("--paper"), first: colours[0], second: colours[1], colours, width,
      diverging: dark() ? ["#D9743F", "#22272e", "#4CA3DD"] : ["#C9622B", "#f4f4f2", "#1F6FA8"], onStrong: dark() ? "#0d1117" : "#ffffff" };
  }

  const config = (view) => ({
    background: view.paper, font: "system-ui, sans-serif",
    view: { stroke: null }, range: { category: view.colours },
    axis: { labelColor: view.soft, titleColor: view.soft, gridColor: view.line, gridOpacity: 0.6, domainColor: view.line, tickColor: view.line, titleFontWeight: "normal", labelFontSize: 11, titleFontSize: 12, titlePadding: 8, labelOverlap: "greedy" },
    legend: { labelColor: view.ink, titleColor: view.soft, titleFontWeight: "normal", symbolType: "circle", titleOrient: "left" },
    header: { labelColor: view.soft, titleColor: view.soft, titleFontWeight: "normal" },
  });

  /** Our own tooltip: texts go in as text. */
  const tip = dom.make("div", { id: "tip", hidden: true });
  function tooltip(_, event, __, value) {
    if (!tip.isConnected) document.body.append(tip);
    if (value === null || value === undefined || value === "") { tip.hidden = true; return; }
    const lines = typeof value === "object" ? Object.entries(value) : [["", value]];
    tip.replaceChildren(...lines.map(([name, text]) => dom.make("div", {}, dom.make("span", { class: "soft", text: `${name} ` }), dom.shown(text))));
    tip.hidden = false;
    tip.style.left = `${Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8)}px`;
  }

  function create(chart, data, state) {
    const canvas = dom.make("div", { class: "canvas" });
    const note = dom.make("p", { class: "soft small" });
    const choices = chart.choices ?? chart.measures?.(data).map((name) => [name, named(name)]);
    let measure = choices && (choices.find(([name]) => name === chart.first) ?? choices[0])[0];
    let made = null, shown = null, queue = Promise.resolve();

    async function paint() {
      const width = Math.max(240, Math.floor(canvas.clientWidth));
      const view = { ...look(width), group: state.group, measure };
      note.textContent = chart.note?.(data, view) ?? "";
      made = chart.table ? chart.table(data, view) : chart.draw(data, view);
      shown?.finalize();
      shown = null;
      if (!made?.rows.length) { canvas.replaceChildren(dom.make("p", { class: "soft", text: "Nothing to draw for this class." })); return; }
      if (made.element) { canvas.replaceChildren(made.element); return; }
      const sized = made.spec.facet ? {} : { width: "container", height: made.height ?? 210, autosize: { type: "fit-x", contains: "padding" } };
      const place = dom.make("div", { class: "plot" });
      canvas.replaceChildren(place);
      canvas.classList.add("drawn");
      const result = await vegaEmbed(place, { ...sized, ...made.spec, description: chart.title, config: config(view) },
        { actions: false, ast: true, renderer: "svg", tooltip, defaultStyle: false, mode: "vega-lite" });
      shown = result;
      place.dataset.drawn = "true";
    }
    const draw = () => { queue = queue.then(paint); return queue; };

    async function save(kind) {
      await queue;
      const name = `${chart.id}.${kind}`;
      if (kind === "csv") dom.download(name, dom.csv(made.rows), "text/csv");
      else if (kind === "svg") dom.download(name, await shown.view.toSVG(), "image/svg+xml");
      else (await shown.view.toCanvas(2)).toBlob((blob) => dom.download(name, blob, "image/png"));
    }

    const kinds = chart.table ? ["csv"] : ["svg", "png", "csv"];
    const figure = dom.make("figure", { class: chart.wide ? "wide" : "", id: `chart-${chart.id}` },
      dom.make("figcaption", {}, dom.make("h3", { text: chart.title }), dom.make("p", { class: "soft small", text: chart.caption })),
      choices?.length > 1 ? dom.select("Shown", choices, measure, (value) => { measure = value; draw(); }).element : null,
      canvas, note,
      dom.make("div", { class: "save" }, ...kinds.map((kind) => dom.button(kind.toUpperCase(), () => save(kind), { class: "plain", "aria-label": `${chart.title} Save as ${kind.toUpperCase()}` }))));
    const seen = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) { seen.disconnect(); draw(); watchWidth(); }
    }, { rootMargin: "400px" });
    seen.observe(figure);
    function watchWidth() {
      let last = canvas.clientWidth;
      new ResizeObserver(() => {
        const width = canvas.clientWidth;
        if (width && Math.abs(width - last) > 24) { last = width; draw(); }
      }).observe(canvas);
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (figure.isConnected) draw(); });
    }
    return figure;
  }

  return { create };
})();

// @ts-check
// One chart with its question, how to read it, its own choice, and the formats to save it in.
const chartFigure = (() => {
  "use strict";
  const PLAIN_NAMES = new Map([["between_measures", "measures with each other"]]);
  const measureName = (/** @type {string} */ name) =>
    PLAIN_NAMES.get(name) ?? name.replaceAll("_", " ").replace("|", " with ");

  const { DARK, colours, config } = chartTheme;

  const tip = dom.make("div", { id: "tip", hidden: true });

  /**
   * Our own tooltip: texts go in as text. Called by Vega.
   * @param {unknown} _handler
   * @param {MouseEvent} event
   * @param {unknown} _item
   * @param {any} value
   */
  function tooltip(_handler, event, _item, value) {
    if (!tip.isConnected) document.body.append(tip);
    if (value === null || value === undefined || value === "") {
      tip.hidden = true;
      return;
    }
    const lines = typeof value === "object" ? Object.entries(value) : [["", value]];
    tip.replaceChildren(
      ...lines.map(([name, text]) =>
        dom.make("div", {}, dom.make("span", { class: "soft", text: `${name} ` }), dom.shown(text)),
      ),
    );
    tip.hidden = false;
    tip.style.left = `${Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8)}px`;
  }

  /**
   * The element of a chart; it is drawn when it comes into view.
   * @param {Chart} chart
   * @param {ChartData} data
   * @param {{group: number}} state which class is chosen
   */
  function create(chart, data, state) {
    const canvas = dom.make("div", { class: "canvas" });
    const note = dom.make("p", { class: "soft small" });
    const choices =
      chart.choices ?? chart.measures?.(data).map((name) => [name, measureName(name)]);
    let measure = choices && (choices.find(([name]) => name === chart.first) ?? choices[0])[0];
    /** @type {Drawing | null} */
    let drawing = null;
    /** @type {any} */
    let vega = null; // what vegaEmbed gave for the drawing
    let queue = Promise.resolve();

    async function paint() {
      const width = Math.max(240, Math.floor(canvas.clientWidth));
      /** @type {View} */
      const view = { ...colours(), width, group: state.group, measure };
      note.textContent = chart.note?.(data, view) ?? "";
      drawing = (chart.table ?? chart.draw)(data, view);
      vega?.finalize();
      vega = null;
      if (!drawing?.rows.length) {
        const text = "Nothing to draw for this class.";
        canvas.replaceChildren(dom.make("p", { class: "soft", text }));
        return;
      }
      if (drawing.element) {
        canvas.replaceChildren(drawing.element);
        return;
      }
      const place = dom.make("div", { class: "plot" });
      canvas.replaceChildren(place);
      canvas.classList.add("drawn");
      vega = await vegaEmbed(
        place,
        { ...size(drawing), ...drawing.spec, description: chart.title, config: config(view) },
        {
          actions: false,
          ast: true,
          renderer: "svg",
          tooltip,
          defaultStyle: false,
          mode: "vega-lite",
        },
      );
      place.dataset.drawn = "true";
    }
    const draw = () => {
      queue = queue.then(paint);
      return queue;
    };

    /** @param {string} format */
    async function save(format) {
      await queue;
      const name = `${chart.id}.${format}`;
      if (format === "csv") dom.download(name, dom.csv(drawing.rows), "text/csv");
      else if (format === "svg") dom.download(name, await vega.view.toSVG(), "image/svg+xml");
      else {
        const bitmap = await vega.view.toCanvas(2);
        bitmap.toBlob((/** @type {Blob} */ blob) => dom.download(name, blob, "image/png"));
      }
    }

    /** @param {string} value */
    function choose(value) {
      measure = value;
      draw();
    }

    const formats = chart.table ? ["csv"] : ["svg", "png", "csv"];
    const figure = dom.make(
      "figure",
      { class: chart.wide ? "wide" : "", id: `chart-${chart.id}` },
      dom.make(
        "figcaption",
        {},
        dom.make("h3", { text: chart.title }),
        dom.make("p", { class: "soft small", text: chart.caption }),
      ),
      choices?.length > 1 ? dom.select("Shown", choices, measure, choose).element : null,
      canvas,
      note,
      dom.make(
        "div",
        { class: "save" },
        ...formats.map((format) => saveButton(chart, format, () => save(format))),
      ),
    );
    drawInView(figure, canvas, draw);
    return figure;
  }

  /** @param {Drawing} drawing */
  function size(drawing) {
    if (drawing.spec.facet) return {};
    return {
      width: "container",
      height: drawing.height ?? 210,
      autosize: { type: "fit-x", contains: "padding" },
    };
  }

  /**
   * @param {Chart} chart
   * @param {string} format
   * @param {() => void} save
   */
  function saveButton(chart, format, save) {
    const label = format.toUpperCase();
    return dom.button(label, save, {
      class: "plain",
      "aria-label": `${chart.title} Save as ${label}`,
    });
  }

  /**
   * Draw when the figure comes into view, and again when its width or the colour scheme changes.
   * @param {HTMLElement} figure
   * @param {HTMLElement} canvas
   * @param {() => void} draw
   */
  function drawInView(figure, canvas, draw) {
    function redrawOnChange() {
      let last = canvas.clientWidth;
      new ResizeObserver(() => {
        const width = canvas.clientWidth;
        if (!width || Math.abs(width - last) <= 24) return;
        last = width;
        draw();
      }).observe(canvas);
      matchMedia(DARK).addEventListener("change", () => {
        if (figure.isConnected) draw();
      });
    }
    const watcher = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        watcher.disconnect();
        draw();
        redrawOnChange();
      },
      { rootMargin: "400px" },
    );
    watcher.observe(figure);
  }

  return { create };
})();

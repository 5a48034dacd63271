// @ts-check
// The words of the playground: drag attention from one to another with the pointer, or move it
// with the keys.
const wordField = (() => {
  "use strict";
  const FAR = 6; // pixels before a press is a drag
  const STEP = 0.05; // of a weight, with the arrow keys
  const FINE = 0.01; // with Shift

  /** @typedef {{from: number, to: number}} Carried attention picked up with the pointer or keys */

  /**
   * weights: at the start; canCarry(from): whether its attention can be picked up; preview(move):
   * while it is carried, null if it is let go; lift(word, change): of its weight, with the keys.
   * @param {Example} example
   * @param {{weights: number[], canCarry?: (from: number) => boolean,
   *   preview: (move: Carried | null) => void, commit: (move: Carried, text: string) => void,
   *   lift?: (word: number, change: number) => void, onSelect: () => void}} callbacks
   */
  function create(
    example,
    { weights, canCarry = () => true, preview, commit, lift: raise, onSelect },
  ) {
    const count = example.tokens.length;
    const isEvidence = new Set(example.evidence || []);
    /** @type {HTMLButtonElement[]} */
    const buttons = [];
    /** @type {HTMLElement[]} */
    const figures = []; // the weights, as text
    let selected = distributions.argmax(weights);
    /** @type {Carried | null} */
    let carried = null;
    const draw = (/** @type {number} */ n) => {
      figures[n] = dom.make("span", { class: "n" });
      buttons[n] = dom.make(
        "button",
        {
          type: "button",
          class: `w${isEvidence.has(n) ? " evidence" : ""}${canCarry(n) ? " movable" : ""}`,
          tabindex: n === selected ? "0" : "-1",
          "aria-pressed": String(n === selected),
        },
        dom.word(example.tokens[n]),
        figures[n],
      );
      buttons[n].dataset.n = String(n);
      return buttons[n];
    };
    const pieces = heatmap.pieces(count, draw, example.pair);
    const element = dom.make(
      "div",
      { class: "words", dir: "auto", role: "group", "aria-label": "words and their attention" },
      ...pieces,
    );

    const wordAt = (/** @type {PointerEvent} */ event) => {
      /** @type {HTMLElement | undefined} */
      const under = document.elementFromPoint(event.clientX, event.clientY)?.closest(".w");
      return under && element.contains(under) ? Number(under.dataset.n) : null;
    };
    const short = (/** @type {number} */ n) => dom.shown(example.tokens[n].slice(0, 30));
    const text = (/** @type {Carried} */ { from, to }) =>
      `Carried from “${short(from)}” to “${short(to)}”.`;

    /**
     * @param {number} n
     * @param {boolean} [focus]
     */
    function select(n, focus = false) {
      buttons[selected].setAttribute("aria-pressed", "false");
      buttons[selected].tabIndex = -1;
      selected = n;
      buttons[n].setAttribute("aria-pressed", "true");
      buttons[n].tabIndex = 0;
      if (focus) buttons[n].focus();
      onSelect();
    }

    /** @param {Carried | null} next */
    function hold(next) {
      carried = next;
      element.querySelectorAll(".from, .to").forEach((old) => old.classList.remove("from", "to"));
      element.classList.toggle("carrying", next !== null);
      if (!next) return;
      buttons[next.from].classList.add("from");
      if (next.to !== next.from) buttons[next.to].classList.add("to");
    }

    function drop() {
      const done = carried;
      hold(null);
      if (done && done.to !== done.from) {
        commit(done, text(done));
        select(done.to);
      } else preview(null);
    }

    /** @type {{n: number, x: number, y: number, id: number} | null} */
    let press = null; // where the pointer went down
    element.addEventListener("pointerdown", (event) => {
      const n = event.button === 0 ? wordAt(event) : null;
      if (n === null) return;
      press = { n, x: event.clientX, y: event.clientY, id: event.pointerId };
    });
    element.addEventListener("pointermove", (event) => {
      if (!press || event.pointerId !== press.id) return;
      if (!carried) {
        if (Math.hypot(event.clientX - press.x, event.clientY - press.y) < FAR) return;
        if (!canCarry(press.n)) return;
        element.setPointerCapture(event.pointerId);
        hold({ from: press.n, to: press.n });
      }
      const to = wordAt(event) ?? carried.from;
      if (to !== carried.to) {
        hold({ from: carried.from, to });
        preview(carried);
      }
      event.preventDefault();
    });
    element.addEventListener("pointerup", () => {
      if (!press) return;
      const pressed = press;
      press = null;
      if (carried) drop();
      else select(pressed.n, true);
    });
    element.addEventListener("pointercancel", () => {
      press = null;
      hold(null);
      preview(null);
    });

    /** @type {Record<string, number>} */
    const steps = { ArrowRight: 1, ArrowLeft: -1, Home: -count, End: count };
    /** @type {Record<string, number>} */
    const lifts = { ArrowUp: 1, ArrowDown: -1 };
    element.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && carried) {
        hold(null);
        preview(null);
        return;
      }
      const step = steps[event.key];
      const lift = lifts[event.key];
      if (step !== undefined) {
        const goal = Math.min(Math.max((carried ? carried.to : selected) + step, 0), count - 1);
        if (carried) {
          hold({ from: carried.from, to: goal });
          preview(carried);
          buttons[goal].focus();
        } else select(goal, true);
      } else if (lift !== undefined && !carried) {
        if (!raise) return;
        raise(selected, lift * (event.shiftKey ? FINE : STEP));
      } else if (event.key === "Enter" || event.key === " ") {
        if (carried) {
          const to = carried.to;
          drop();
          select(to, true);
        } else if (canCarry(selected)) hold({ from: selected, to: selected });
      } else return;
      event.preventDefault();
    });

    // A long text is painted piece by piece as it comes into view: with 2,000 words the page could
    // not keep up with the pointer.
    /** @type {Set<Element>} */
    const inView = new Set(pieces.slice(0, 1));
    /** @type {number[] | null} */
    let shown = null;
    /** @type {number[] | null} */
    let shade = null;
    const watcher = new IntersectionObserver(
      (entries) =>
        entries.forEach(({ target, isIntersecting }) => {
          if (isIntersecting) {
            inView.add(target);
            paint(target);
          } else inView.delete(target);
        }),
      { rootMargin: "100px" },
    );
    if (pieces.length > 1) pieces.forEach((piece) => watcher.observe(piece));

    /** @param {Element} piece */
    function paint(piece) {
      if (!shown) return;
      /** @type {NodeListOf<HTMLElement>} */
      const words = piece.querySelectorAll(".w");
      for (const button of words) {
        const n = Number(button.dataset.n);
        const figure = shown[n].toFixed(3);
        if (figures[n].textContent !== figure) figures[n].textContent = figure;
        button.style.setProperty("--s", shade[n].toFixed(3));
        button.dataset.weight = String(shown[n]);
      }
    }

    /** @param {number[]} alpha */
    function show(alpha) {
      shown = alpha;
      shade = heatmap.shades(alpha);
      inView.forEach(paint);
    }

    return { element, selected: () => selected, show };
  }

  return { create };
})();

// The lesson: playgrounds with a task, which say when it is done.
const lesson = (() => {
  "use strict";
  const data = dom.json("lesson");

  /** Kendall's tau-b of two vectors; null where one is constant. */
  function tau(x, y) {
    let together = 0, untiedX = 0, untiedY = 0;
    for (let i = 0; i < x.length; i += 1) {
      for (let j = i + 1; j < x.length; j += 1) {
        const a = Math.sign(x[i] - x[j]), b = Math.sign(y[i] - y[j]);
        together += a * b;
        untiedX += a * a;
        untiedY += b * b;
      }
    }
    return untiedX && untiedY ? together / Math.sqrt(untiedX * untiedY) : null;
  }

  const flips = ({ before, now }) => exact.argmax(before) !== exact.argmax(now);
  const SAME = 0.01 + 1e-9;

  /** Is the task done? And what to say of how it stands. */
  const TASKS = {
    flip: (state) => [flips(state), "The answer has not changed yet."],
    far: (state) => [state.jsd >= 0.3 && state.tvd <= SAME, state.tvd > SAME ? "Too much: the prediction moved by more than 0.01." : "Further: JSD 0.3 at least, with the prediction within 0.01."],
    same: (state) => [state.jsd >= 0.5 && state.tvd <= SAME, "Move more of the attention: JSD 0.5 at least."],
    tau: (state) => [state.tau !== null && state.tau <= 0.6 && state.tvd <= SAME,
      `tau with the original attention: ${dom.number(state.tau, 2)}. Get it to 0.6 or less, with the prediction within 0.01.`],
  };

  function mount(root) {
    const { model, example: id, task, done } = root.dataset;
    const example = unpack.example(data.models[model][id]);
    const start = exact.renormalise(example.attention());
    const status = dom.make("p", { class: "task", role: "status" });
    let moved = false;
    const show = (state) => {
      if (!task) return;
      const ranked = { ...state, tau: tau(start, state.alpha) };
      const [finished, still] = TASKS[task](ranked);
      moved ||= state.jsd > 0;
      root.classList.toggle("finished", finished);
      status.textContent = finished ? `Done${task === "tau" ? ` (tau ${dom.number(ranked.tau, 2)})` : ""}. ${done}` : moved ? still : "";
    };
    const board = playground.create(example, data.classes, { onChange: show, simple: true });
    if (task === "tau") board.element.querySelector(".buttons").append(dom.button("Disturb the small weights", () => board.set(disturbed(start))));
    root.append(board.element, status);
  }

  /** The largest weight stays; the others get a little more or less each, so that they have an order. */
  function disturbed(alpha) {
    const top = exact.argmax(alpha);
    const others = exact.renormalise(alpha.map((weight, n) => (n === top ? 0 : weight * (0.5 + Math.random()))));
    return alpha.map((weight, n) => (n === top ? weight : others[n] * (1 - alpha[top])));
  }

  function quiz(root) {
    const said = dom.make("p", { class: "task", role: "status" });
    const say = (choice) => {
      const right = choice === root.dataset.right;
      root.classList.toggle("finished", right);
      said.textContent = right ? root.dataset.done : "Look again: which of the two changes its answer when you move the attention?";
    };
    root.append(dom.button("Model A", () => say("A")), " ", dom.button("Model B", () => say("B")), said);
  }

  document.querySelectorAll("[data-model]").forEach(mount);
  document.querySelectorAll("[data-right]").forEach(quiz);
  document.body.classList.add("alive");
  document.body.dataset.ready = String(Math.round(performance.now()));
  return { tau };
})();

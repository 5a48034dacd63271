// The lesson: playgrounds with a task. Only a move that does what the task asks counts as done; others get a hint.
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
  const SAME = 0.01 + 1e-9; // ε of the tasks
  const MOST = 0.5; // of the attention

  /** state -> [is the task done?, a hint for a move that does not do it]. */
  const TASKS = {
    flip: (state) => [flips(state), "Not yet: the answer is the same. Take more weight off the underlined word."],
    carry: (state) => [state.marked >= MOST && flips(state), flips(state)
      ? "Not this way: the answer changed, but most of the attention is not on the underlined word. Press Original and carry it there."
      : "Not yet: carry the attention to the underlined word."],
    same: (state) => [state.jsd >= 0.5 && state.tvd <= SAME, state.tvd > SAME
      ? "Too much: the prediction moved by more than 0.01." : "Not yet: move more of the attention, until the JSD is at least 0.5."],
    tau: (state) => [state.tau !== null && state.tau <= 0.6 && state.tvd <= SAME, state.tvd > SAME
      ? "Too much: the prediction moved by more than 0.01. Press Original and leave the underlined word its weight."
      : `Not yet: tau with the original attention is ${dom.number(state.tau, 2)}. Get it to 0.6 or less; only the small weights need to change.`],
    // The next two cannot be done: what is right is to try, and to say so.
    far: (state) => [false, state.tvd > SAME ? "Too much: the prediction moved by more than 0.01." : "Not far enough: JSD 0.3 at least, with the prediction within 0.01."],
    unflippable: () => [false, "The answer is the same. Try something else, or say that it cannot be done."],
  };

  function mount(root) {
    const { model, example: id, task, done } = root.dataset;
    const example = unpack.example(data.models[model][id]);
    const start = exact.renormalise(example.attention());
    const status = dom.make("p", { class: "task", role: "status" });
    const say = (finished, text) => {
      root.classList.toggle("finished", finished);
      status.textContent = text;
    };
    const show = (state) => {
      if (!state.done) return; // still being carried
      if (state.jsd > 0) root.dataset.moved = "true";
      if (!task || !root.dataset.moved) return;
      const marked = (example.evidence || []).reduce((sum, n) => sum + state.alpha[n], 0);
      const ranked = { ...state, marked, tau: tau(start, state.alpha) };
      const [finished, hint] = TASKS[task](ranked);
      if (!claimed) say(finished, finished ? `Done${task === "tau" ? ` (tau ${dom.number(ranked.tau, 2)})` : ""}. ${done}` : hint);
    };
    let claimed = false; // that it cannot be done, rightly
    const board = playground.create(example, data.classes, { onChange: show, simple: true });
    if (task === "tau") board.element.querySelector(".buttons").append(dom.button("Disturb the small weights", () => board.set(disturbed(start))));
    root.append(board.element, status);
    const answer = root.parentElement.querySelector(`details[data-answers="${task}"]`);
    if (!answer) return;
    const claim = dom.button("It cannot be done", () => {
      claimed = Boolean(root.dataset.moved);
      answer.open ||= claimed;
      say(claimed, claimed ? `Done. ${done}` : "Try first: move some of the attention.");
    });
    status.before(dom.make("p", {}, claim));
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
      const tried = [...root.parentElement.querySelectorAll("[data-model]")].every((play) => play.dataset.moved);
      const right = tried && choice === root.dataset.right;
      root.classList.toggle("finished", right);
      said.textContent = right ? root.dataset.done
        : tried ? "Look again: which of the two changes its answer when you move the attention?"
          : "That would be a guess: move the attention in both models first.";
    };
    root.append(dom.button("Model A", () => say("A")), " ", dom.button("Model B", () => say("B")), said);
  }

  document.querySelectorAll("[data-model]").forEach(mount);
  document.querySelectorAll("[data-right]").forEach(quiz);
  document.body.classList.add("alive");
  document.body.dataset.ready = String(Math.round(performance.now()));
  return { tau };
})();

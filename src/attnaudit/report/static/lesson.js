// @ts-check
// The lesson: playgrounds with a task. A task is done only by a move that does what it asks for;
// other moves get a hint.
(() => {
  "use strict";
  /** @type {{classes: string[], models: Record<string, Record<string, PackedExample>>}} */
  const data = dom.json("lesson");
  const SAME = 0.01 + 1e-9; // ε of the tasks
  const MOST = 0.5; // of the attention

  /** @typedef {PlayState & {onEvidence: number, tau: number | null}} TaskState */

  /** @param {PlayState} state */
  const flips = ({ before, now }) => distributions.argmax(before) !== distributions.argmax(now);

  const TOO_MUCH = "Too much: the prediction moved by more than 0.01.";
  /**
   * [is the task done?, a hint if it is not]
   * @type {Record<string, (state: TaskState) => [boolean, string]>}
   */
  const TASKS = {
    flip: (state) => [
      flips(state),
      "Not yet: the answer is the same. Take more weight off the underlined word.",
    ],
    carry: (state) => [
      state.onEvidence >= MOST && flips(state),
      flips(state)
        ? "Not this way: the answer changed, but most of the attention is not on the underlined " +
          "word. Press Original and carry it there."
        : "Not yet: carry the attention to the underlined word.",
    ],
    same: (state) => [
      state.jsd >= 0.5 && state.tvd <= SAME,
      state.tvd > SAME
        ? TOO_MUCH
        : "Not yet: move more of the attention, until the JSD is at least 0.5.",
    ],
    tau: (state) => [
      state.tau !== null && state.tau <= 0.6 && state.tvd <= SAME,
      state.tvd > SAME
        ? `${TOO_MUCH} Press Original and leave the underlined word its weight.`
        : `Not yet: tau with the original attention is ${dom.number(state.tau, 2)}. ` +
          "Get it to 0.6 or less; only the small weights need to change.",
    ],
    // The next two cannot be done: the right answer is to try, and to say so.
    far: (state) => [
      false,
      state.tvd > SAME
        ? TOO_MUCH
        : "Not far enough: JSD 0.3 at least, with the prediction within 0.01.",
    ],
    unflippable: () => [
      false,
      "The answer is the same. Try something else, or say that it cannot be done.",
    ],
  };

  /** @param {HTMLElement} root a playground of the lesson */
  function mount(root) {
    const { model, example: id, task, done } = root.dataset;
    const example = unpack.example(data.models[model][id]);
    const start = distributions.renormalise(example.attention());
    const status = dom.make("p", { class: "task", role: "status" });
    let isClaimed = false; // rightly, that it cannot be done

    /**
     * @param {boolean} isFinished
     * @param {string} text
     */
    function say(isFinished, text) {
      root.classList.toggle("finished", isFinished);
      status.textContent = text;
    }

    /** @param {PlayState} state */
    function onChange(state) {
      if (!state.done) return; // still being carried
      if (state.jsd > 0) root.dataset.moved = "true";
      if (!task || !root.dataset.moved || isClaimed) return;
      const onEvidence = (example.evidence || []).reduce((sum, n) => sum + state.alpha[n], 0);
      const tau = kendallTau(start, state.alpha);
      const [isDone, hint] = TASKS[task]({ ...state, onEvidence, tau });
      const detail = task === "tau" ? ` (tau ${dom.number(tau, 2)})` : "";
      say(isDone, isDone ? `Done${detail}. ${done}` : hint);
    }

    const board = playground.create(example, data.classes, { onChange, simple: true });
    if (task === "tau") {
      const disturb = dom.button("Disturb the small weights", () => board.set(disturbed(start)));
      board.element.querySelector(".buttons").append(disturb);
    }
    root.append(board.element, status);
    /** @type {HTMLDetailsElement | null} */
    const answer = root.parentElement.querySelector(`details[data-answers="${task}"]`);
    if (!answer) return;
    const claim = dom.button("It cannot be done", () => {
      isClaimed = Boolean(root.dataset.moved);
      answer.open ||= isClaimed;
      say(isClaimed, isClaimed ? `Done. ${done}` : "Try first: move some of the attention.");
    });
    status.before(dom.make("p", {}, claim));
  }

  /**
   * The largest weight stays; the others are changed a little, so that they have an order.
   * @param {number[]} alpha
   */
  function disturbed(alpha) {
    const top = distributions.argmax(alpha);
    const changed = alpha.map((weight, n) => (n === top ? 0 : weight * (0.5 + Math.random())));
    const others = distributions.renormalise(changed);
    return alpha.map((weight, n) => (n === top ? weight : others[n] * (1 - alpha[top])));
  }

  /** @param {HTMLElement} root */
  function quiz(root) {
    const status = dom.make("p", { class: "task", role: "status" });
    const say = (/** @type {string} */ choice) => {
      const isTried = all("[data-model]", root.parentElement).every((play) => play.dataset.moved);
      const isRight = isTried && choice === root.dataset.right;
      root.classList.toggle("finished", isRight);
      if (isRight) status.textContent = root.dataset.done;
      else if (isTried)
        status.textContent =
          "Look again: which of the two changes its answer when you move the attention?";
      else status.textContent = "That would be a guess: move the attention in both models first.";
    };
    root.append(
      dom.button("Model A", () => say("A")),
      " ",
      dom.button("Model B", () => say("B")),
      status,
    );
  }

  /**
   * @param {string} selector
   * @param {ParentNode} [root]
   * @returns {HTMLElement[]}
   */
  function all(selector, root = document) {
    return Array.from(root.querySelectorAll(selector));
  }

  all("[data-model]").forEach(mount);
  all("[data-right]").forEach(quiz);
  document.body.classList.add("alive");
  document.body.dataset.ready = String(Math.round(performance.now()));
})();

// @ts-check
// The examples of a run: a list to sort and search, and the chosen one in full.
const examples = (() => {
  "use strict";
  const AT_ONCE = 40; // entries of the list
  const NOT_PLAYABLE =
    " There is no playground: no moves of the attention are stored with these examples, and the " +
    "output cannot be computed here, or the texts are too long.";
  const { className, compare, entry, isWrong, ordersFor } = exampleList;

  /**
   * Fill `root` with the examples of a run, at least one.
   * @param {HTMLElement} root
   * @param {RunInfo} run
   * @param {{examples: PackedExample[], rule: string}} data
   * @param {(id: string) => void} play opens the playground
   */
  function mount(root, run, data, play) {
    const orders = ordersFor(data.examples);
    const filter = { order: orders[0][0], text: "", predicted: "", answer: "" };
    /** @type {ExampleView} */
    const view = { measure: "", numbers: false, row: -1 };
    const list = dom.make("ol", { class: "list" });
    const count = dom.make("p", { class: "soft count", role: "status" });
    const detail = dom.make("article", { class: "detail" });
    const searchable = new Map(
      data.examples.map((example) => [
        example,
        `${example.id} ${example.query} ${example.tokens.join(" ")}`.toLowerCase(),
      ]),
    );
    const isPlayable = data.examples.some(unpack.isPlayable);
    let length = AT_ONCE;
    /** @type {PackedExample | null} */
    let chosen = null;

    const matches = (/** @type {PackedExample} */ example) =>
      (!filter.text || searchable.get(example).includes(filter.text.toLowerCase())) &&
      (filter.predicted === "" || example.predicted === Number(filter.predicted)) &&
      (filter.answer === "" || (filter.answer === "wrong") === isWrong(example));

    function drawList() {
      const matching = data.examples.filter(matches).sort(compare(filter.order));
      const [some, all] = [matching.length, data.examples.length];
      count.textContent = `${some.toLocaleString("en")} of ${all.toLocaleString("en")}`;
      list.replaceChildren(
        ...matching
          .slice(0, length)
          .map((example) => dom.make("li", {}, entry(run, example, example === chosen, choose))),
      );
      if (some > length) list.append(dom.make("li", {}, showMore()));
      return matching;
    }

    function showMore() {
      const more = () => {
        length += 4 * AT_ONCE;
        drawList();
      };
      return dom.button("Show more", more, { class: "plain" });
    }

    /** @param {PackedExample} example */
    function choose(example) {
      chosen = example;
      for (const current of list.querySelectorAll("[aria-current]"))
        current.removeAttribute("aria-current");
      for (const button of list.querySelectorAll("button"))
        if (button.dataset.id === example.id) button.setAttribute("aria-current", "true");
      drawDetail();
    }

    function drawDetail() {
      if (!chosen) return;
      const example = unpack.example(chosen);
      const elements = exampleDetail.create(
        run,
        example,
        view,
        drawDetail,
        isPlayable ? play : null,
      );
      detail.replaceChildren(...elements);
    }

    /** @param {keyof typeof filter} key */
    const change = (key) => (/** @type {string} */ value) => {
      filter[key] = value;
      length = AT_ONCE;
      drawList();
    };
    root.replaceChildren(
      dom.make("p", { class: "soft", text: data.rule + (isPlayable ? "" : NOT_PLAYABLE) }),
      controls(run, data.examples, orders, change),
      dom.make(
        "div",
        { class: "master" },
        dom.make("div", { class: "index" }, count, list),
        detail,
      ),
    );
    const [first] = drawList();
    if (first) choose(first);
  }

  /**
   * @param {RunInfo} run
   * @param {PackedExample[]} all
   * @param {[string, string][]} orders
   * @param {(key: "order" | "text" | "predicted" | "answer") => (value: string) => void} change
   */
  function controls(run, all, orders, change) {
    const search = dom.make("input", {
      type: "search",
      placeholder: "a word, or a name",
      on: { input: () => change("text")(search.value) },
    });
    const predicted = [...new Set(all.map((example) => example.predicted))].sort((a, b) => a - b);
    const classes = /** @type {[string | number, string][]} */ ([
      ["", "any class"],
      ...predicted.map((c) => [c, className(run, c)]),
    ]);
    /** @type {[string, string][]} */
    const answers = [
      ["", "right or wrong"],
      ["right", "right"],
      ["wrong", "wrong"],
    ];
    const isLabelled = all.some((example) => example.label >= 0);
    return dom.make(
      "div",
      { class: "controls" },
      dom.make("label", { class: "field" }, dom.make("span", { text: "Search" }), search),
      dom.select("Sort", orders, orders[0][0], change("order")).element,
      dom.select("Predicted", classes, "", change("predicted")).element,
      isLabelled ? dom.select("Answer", answers, "", change("answer")).element : null,
    );
  }

  return { mount };
})();

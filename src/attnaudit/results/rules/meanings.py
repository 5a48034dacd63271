"""What each number of the card is, in words."""

from __future__ import annotations

# The measures that attention is compared with, as the card names them.
REFERENCES = {"leave_one_out": "leave-one-out", "gradient": "gradients"}

# The source, or word, that a measure of citations points at.
CITING = {
    "attention": "with most attention",
    "calibrated_attention": "with most attention, calibrated by an empty question",
    "gradient": "with the largest input × gradient",
    "surrogate": "with the largest weight of the surrogate",
    "leave_one_out": "that leave-one-out puts first",
}

MEANINGS = {
    "uniform_attention/accuracy_drop": "accuracy lost under uniform attention",
    "uniform_attention/flipped": "decisions that change under uniform attention",
    "uniform_attention/correct": "accuracy",
    "permutation/tvd_median": "median change of the probabilities when the weights are shuffled",
    "permutation/log_odds_median": "median change of the log-odds when the weights are shuffled",
    "permutation/flipped": "decisions that change when the weights are shuffled",
    "top_item/flips_top": "decisions that flip without the most attended word",
    "flip_fraction/removed@attention": "share of words to remove, most attended first, until the "
    "decision flips (lower is better)",
    "top_words/contrast@attention": "what the most attended words say on their own, minus what the "
    "rest says, in log-odds (floor: random words, ceiling: the best words)",
    "top_words/place@attention": "the same, text by text: from random words (0) to the best (1)",
    "top_words/contrast@leave_one_out": "the first number for the words that leave-one-out ranks "
    "first instead: what a ranking can reach without a search",
    "polarity/support@attention": "log-odds lost without the most attended word (floor: a random "
    "word, ceiling: the best word)",
    "top_words/comprehensiveness@attention": "log-odds lost without the most attended words "
    "(floor: random words, ceiling: the best words)",
    "top_words/sufficiency@attention": "log-odds lost with the most attended words only "
    "(lower is better; floor: random words, ceiling: the best words)",
    "top_words/searched_exactly": "texts whose best words were found by trying all sets",
    "polarity/violation@attention": "texts whose most attended word speaks against the decision "
    "(lower is better)",
    "redundancy/hidden_flip": "decisions that flip without the two most attended words together, "
    "and not without either alone",
    **{
        f"agreement/tau@{measure}": f"rank agreement (Kendall's tau) with {words}"
        for measure, words in REFERENCES.items()
    },
    "evidence/hit@attention": "texts whose most attended word is known evidence",
    "evidence/mass@attention": "share of attention on known evidence",
    "evidence/auprc@attention": "known evidence ranked first (AUPRC)",
    "furthest/strict_share": "distance to the furthest attention with the same log-odds "
    "(1: the maximum)",
    "furthest/strict_upper_share": "distance beyond which no attention gives the same log-odds",
    "furthest/jsd_share": "distance to the furthest attention with the same prediction "
    "(1: the maximum)",
    "furthest/upper_share": "distance beyond which no attention gives the same prediction",
    "furthest/jsd": "the distance in nats (Jensen–Shannon divergence, JSD; never more than 0.69)",
    "noise_stability/top_weight_kept": "weight that the most attended words keep under small noise "
    "(floor: random words)",
    "noise_stability/top_k_overlap": "most attended words that stay the same under small noise",
    "noise_stability/jsd_share": "distance to the attention under small noise (1: the maximum)",
    "stability/jsd_share": "distance to another training's attention (1: the maximum)",
    "stability/tau": "rank agreement (Kendall's tau) with another training's attention",
    "stability/same_decision": "same decision in another training",
    "position/weight_on_marks": "share of attention on special tokens",
    "position/stays_at_position": "texts whose attention stays at its place when the most attended "
    "word is moved elsewhere",
    "erasure_forms/disagreement": "largest difference between deleting, masking and padding the "
    "same words",
    "source_use/from_sources": "answers whose probability per token the sources at least double",
    "source_use/gain": "rise of the log-probability per token by the sources",
    "source_use/open_book": "probability per token with the sources (floor: without)",
    "source_use/closed_book": "probability per token without any source",
    **{
        f"source_use/cited_used@{measure}": f"answers that used the source {words}, of those that "
        "come from sources (floor: a random source)"
        for measure, words in CITING.items()
    },
    "top_source/drop@attention": "fall of the log-probability without the source with most "
    "attention (floor: a random source, ceiling: the best one)",
    "lds/lds@attention": "rank correlation with the log-probability when random sources are left "
    "out (LDS)",
    **{
        f"word_use/cited_used@{measure}": f"answers that used the word {words}, of those that "
        "come from sources (floor: a random word)"
        for measure, words in CITING.items()
    },
    "top_word/drop@attention": "fall of the log-probability without the word with most attention "
    "(floor: a random word, ceiling: the best one)",
    "word_lds/lds@attention": "rank correlation with the log-probability when random words are "
    "left out (LDS)",
    "word_evidence/hit@attention": "answers with most attention on a word of a source that is "
    "known to be needed",
    "source_order/same_source@attention": "answers with most attention on the same source in "
    "another order (floor: chance)",
    "source_order/same_place@attention": "answers with most attention on another source at the "
    "same place (lower is better)",
    "source_order/first@attention": "answers with most attention on the first source "
    "(floor: chance)",
    "sinks/first_token": "share of attention on the first token",
}

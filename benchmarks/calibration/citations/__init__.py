"""How often the card of citations is wrong: readers of known truth, audited and counted.

`readers` are models whose use of sources and attention follow a program with knobs; `zoo` draws
them; `truth` says what is true of each from its knobs alone; `run` audits them and counts.
"""

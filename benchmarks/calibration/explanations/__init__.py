"""How often the tests of explanations, and what they recommend, are wrong.

The models, texts and halves are those of the calibration of the card; see README.md one folder up.
"""

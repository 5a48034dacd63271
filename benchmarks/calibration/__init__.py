"""Calibration of the card: how often does it err on models whose truth is known exactly?

`python -m benchmarks.calibration.run --out FOLDER` audits the models of `zoo`, and
`python -m benchmarks.calibration.evaluate FOLDER` compares their cards with `truth`.
"""

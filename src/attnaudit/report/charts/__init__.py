"""The numbers behind the charts of a page, and the bins that figures share with them.

A new chart takes five places: an entry in `chart_data` here, its type in `static/types.d.ts`, its
drawing as a file in `static/charts/`, a line in `report/scripts.py`, and a line in `CHARTS` of
`static/browse.js`.
"""

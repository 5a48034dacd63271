"""From a model and data to results: choose audits and measures, run them, collect the numbers.

This room runs the audits; the audits themselves are in the room `audits`.

`audit.audit` is the public function, `attnaudit.audit`; the other modules are its steps, in this
order: `data_argument` (batches from what the caller passed), `selection` (which audits and
measures), `other_models` (are they comparable?), `collector` (values, batch by batch), `row_names`
and `example_store` (what is kept for the report). Import from the modules: the function `audit`
would hide its module here.
"""

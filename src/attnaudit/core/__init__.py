"""What every other room builds on.

- the contract: ``contract`` (Batch, Record, AttentionModel), ``decoding`` and ``item_deletion``
  (the logits under other attention, and without each item), ``unwrapped_models``;
- tensors: ``masking``, ``simplex``, ``randomness``, ``tolerance``, ``autograd``, ``module_state``;
- choices written as text: ``registry`` ("name:option=value"), ``option_limits``;
- ``special_tokens``: the four tokens that every vocabulary begins with;
- output: ``output_files``, ``output_folders``, ``temporary``, ``process_locks``, ``interruption``;
- many processes and machines: ``tasks``, with ``process_pool`` and ``dask_cluster`` behind it;
- messages: ``errors``, ``notices``, ``progress``, ``verbosity``.

Import from the modules. The last four groups and ``errors`` do not import torch, so that
``--help``, worker processes and the report start fast.
"""

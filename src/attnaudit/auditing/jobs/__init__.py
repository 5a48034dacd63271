"""Long audits as jobs that can be interrupted, continued and spread over processes.

A job is a model, examples, choices and a seed. `job` opens its folder and says whether finished
parts can be kept; `example_files` stores the examples in shards, whose bounds (`shard_bounds`)
depend on the job alone; `part_file` is the result of one shard; `assembly` makes results of all
parts; `job_store` is the folder itself, on a disk or in an object store. `sharded_audit` does all
of it in order.
"""

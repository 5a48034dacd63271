"""Many experiments from one file: a grid of cells, each one run or one intervention.

- `spec` reads and checks the file, `places` says where in it a mistake is;
- `cells` expands it; `costs` estimates how long each cell takes; `schedule` says what is next;
- `ledger` keeps, in files next to the runs, what happened; `status` reads it from any process;
- `cell_task` is what a worker does; `grid` is the public function; `display` shows the progress.

`status` and what it needs do not import torch.
"""

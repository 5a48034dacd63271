"""One thread a test process: the tensors are small, and the processes run side by side."""

from __future__ import annotations

import torch

torch.set_num_threads(1)

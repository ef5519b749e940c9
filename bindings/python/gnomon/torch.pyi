# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from typing import Any, Callable, ContextManager, Optional, Sequence, Union

import torch

class Watch(ContextManager["Watch"]):
    def close(self) -> None: ...
    def __enter__(self) -> Watch: ...
    def __exit__(self, *error: object) -> None: ...

def watch(
    model: Optional[torch.nn.Module] = None,
    optimizer: Union[
        torch.optim.Optimizer, Sequence[torch.optim.Optimizer], None
    ] = None,
    *,
    name: str = "model",
    depth: Optional[int] = None,
    only: Union[str, Callable[[str, torch.nn.Module], Any], None] = None,
) -> Watch: ...
def ddp_hook(
    hook: Optional[Callable[[Any, Any], Any]] = None, name: str = "all_reduce"
) -> Callable[[Any, Any], Any]: ...

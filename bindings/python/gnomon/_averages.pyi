# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from typing import Any, List, Optional, Union

class Average:
    key: str
    count: int
    node_id: int
    overload_name: str
    input_shapes: Union[str, List[List[int]]]
    stack: List[str]
    flops: int
    cpu_time: float
    cpu_time_total: float
    self_cpu_time_total: float
    device_time: float
    device_time_total: float
    self_device_time_total: float
    cuda_time: float
    cuda_time_total: float
    self_cuda_time_total: float
    cpu_memory_usage: int
    self_cpu_memory_usage: int
    device_memory_usage: int
    self_device_memory_usage: int
    cuda_memory_usage: int
    self_cuda_memory_usage: int
    cpu_time_str: str
    cpu_time_total_str: str
    self_cpu_time_total_str: str
    device_time_str: str
    device_time_total_str: str
    self_device_time_total_str: str
    is_legacy: bool
    is_remote: bool
    @property
    def is_async(self) -> bool: ...
    @property
    def is_user_annotation(self) -> bool: ...
    @property
    def device_type(self) -> Any: ...
    @property
    def use_device(self) -> Optional[str]: ...

class Averages(List[Average]):
    @property
    def self_cpu_time_total(self) -> float: ...
    def total_average(self) -> Average: ...
    def table(
        self,
        sort_by: Optional[str] = None,
        row_limit: int = 100,
        max_src_column_width: Optional[int] = 75,
        max_name_column_width: Optional[int] = 55,
        max_shapes_column_width: Optional[int] = 80,
        header: Optional[str] = None,
        top_level_events_only: bool = False,
        time_unit: Optional[str] = None,
    ) -> str: ...

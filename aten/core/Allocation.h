// Allocation that somebody else may take over, and allocation that nobody does.
#pragma once
#include "aten/core/Tensor.h"

namespace at {

/// Note [Allocations seen by modes]
/// Composites, derivatives and the engine allocate by empty_tensor, empty_strided_tensor and
/// empty_from_spec, which are not operators: a dispatched call would cost more than many kernels.
/// While a dispatch mode is active that must know every tensor (a fake mode, whose results have no
/// memory; a recorder of graphs), they do make the calls aten::empty and aten::empty_strided, which
/// the mode receives like any other. Nothing else has to know of the mode.
///
/// What makes this narrow: only modes that ask for it (`_sees_allocations`) get the calls, and only
/// on a thread where calls go to Python at the moment, so never inside of a kernel, and never while
/// the mode handles a call itself. The check is a bit of the thread's dispatch state. Memory that
/// the caller is about to fill with numbers of the program (torch.tensor, wrapped numbers, tables
/// that composites compute on the host, storages) comes from empty_real_tensor, which is always
/// memory; `lifted` in aten/native/shared/HostValues.h then shows the filled tensor to the modes.
///
/// The hook returns an undefined tensor where nobody wants to see the allocation. `strides` is null
/// for a contiguous tensor.
using AllocationHook = Tensor (*)(IntArrayRef sizes, const IntArrayRef* strides, ScalarType dtype,
                                  Device device);
TORCH_PY_API void set_allocation_hook(AllocationHook hook);

/// Like empty_tensor, and always memory: for callers that write the elements themselves.
TORCH_PY_API Tensor empty_real_tensor(IntArrayRef sizes, ScalarType dtype, Device device);

}  // namespace at

#pragma once
// What help() shows of the types and exceptions of the native module, in a file of its own, so
// that an edit compiles nothing else.

namespace torch::python::texts {

extern const char torch_Size[];
extern const char torch_device[];
extern const char torch_dtype[];
extern const char torch_layout[];
extern const char torch_memory_format[];
extern const char torch_finfo[];
extern const char torch_iinfo[];
extern const char torch_Generator[];
extern const char torch_UntypedStorage[];
extern const char torch_Event[];
extern const char torch_Stream[];
extern const char torch_OutOfMemoryError[];
extern const char linalg_LinAlgError[];

}  // namespace torch::python::texts

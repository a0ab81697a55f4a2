// The structures that version 1 of the DLPack specification fixes.
#pragma once
#include <cstdint>

// Libraries exchange tensors in them without knowing each other. Only layout and meaning come from
// the specification; the names of types and constants follow it.

namespace torch::python::dlpack {

constexpr uint32_t kMajorVersion = 1;
constexpr uint32_t kMinorVersion = 1;

enum DeviceType : int32_t { kCPU = 1, kCUDA = 2, kCUDAHost = 3, kCUDAManaged = 13 };

enum TypeCode : uint8_t {
  kInt = 0,
  kUInt = 1,
  kFloat = 2,
  kBfloat = 4,
  kComplex = 5,
  kBool = 6,
  kFloat8_e4m3fn = 10,
  kFloat8_e4m3fnuz = 11,
  kFloat8_e5m2 = 12,
  kFloat8_e5m2fnuz = 13,
  kFloat8_e8m0fnu = 14
};

enum ManagedFlags : uint64_t { kReadOnly = 1, kIsCopied = 2 };

struct Device {
  int32_t type;
  int32_t id;
};

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void* data;  // the first element is byte_offset bytes after it
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null for a compact row-major tensor
  uint64_t byte_offset;
};

/// Capsule "dltensor"; renamed "used_dltensor" by the consumer, who calls the deleter in the end.
struct ManagedTensor {
  Tensor tensor;
  void* manager_context;
  void (*deleter)(ManagedTensor* self);
};

struct Version {
  uint32_t major;
  uint32_t minor;
};

/// Capsule "dltensor_versioned", from version 1.0 on.
struct ManagedTensorVersioned {
  Version version;  // the first member in all versions
  void* manager_context;
  void (*deleter)(ManagedTensorVersioned* self);
  uint64_t flags;
  Tensor tensor;
};

}  // namespace torch::python::dlpack

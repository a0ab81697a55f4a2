// Descriptors of the emulated cuDNN: their attributes, and what they say once they are finalized.
#pragma once
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/emulation/convolution.h"

namespace c10::cuda::cudnn {

struct HandleObject {
  cudaStream_t stream = nullptr;
};

/// The elements of an attribute.
struct Elements {
  Type type;
  std::vector<char> bytes;
  int64_t count;
};

/// What a tensor's descriptor says once it is finalized.
struct TensorDescription {
  DataType type;
  int64_t id;
  int64_t alignment;
  bool is_virtual;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};

/// What the descriptor of an operation says, and all that is made from it.
struct Operation {
  emulation::EmulatedConvolution convolution;
  TensorDescription image;
  TensorDescription weight;
  TensorDescription result;
  std::optional<TensorDescription> bias{};  // added to the sums
};

/// The addition of a bias.
struct Addition {
  TensorDescription sums;
  TensorDescription bias;
  TensorDescription result;
};

struct DescriptorObject {
  Kind kind;
  bool is_finalized = false;
  std::map<Attribute, Elements> attributes{};
  std::optional<Operation> operation{};  // of operations, graphs, heuristics, engines and plans
  std::optional<Addition> addition{};    // of the operation that adds a bias
  int engine = -1;                       // of engines, their configurations and plans
};

}  // namespace c10::cuda::cudnn

namespace emulation::cudnn {

using namespace c10::cuda::cudnn;

inline constexpr Status kBadParameter = 2000;
inline constexpr Status kNotFinalized = 2004;
inline constexpr Status kShapeMismatch = 2008;
inline constexpr Status kDuplicates = 2009;
inline constexpr Status kWrongType = 2010;
inline constexpr Status kNotSupported = 3000;
inline constexpr Status kExecutionFailed = 5000;

/// Thrown by checks; becomes the status of the call.
struct Problem {
  Status status;
  std::string text;
};

template <class T>
std::vector<T> list_of(const DescriptorObject& d, Attribute attribute) {
  const auto found = d.attributes.find(attribute);
  if (found == d.attributes.end())
    throw Problem{kBadParameter,
                  "attribute " + std::to_string(static_cast<int>(attribute)) + " is not set"};
  std::vector<T> list(static_cast<size_t>(found->second.count));
  std::memcpy(list.data(), found->second.bytes.data(), found->second.bytes.size());
  return list;
}

template <class T>
T one_of(const DescriptorObject& d, Attribute attribute) {
  return list_of<T>(d, attribute)[0];
}

inline const DescriptorObject& part_of(const DescriptorObject& d, Attribute attribute, Kind kind) {
  const auto part = one_of<Descriptor>(d, attribute);
  if (part == nullptr || part->kind != kind)
    throw Problem{kBadParameter, "a part is another kind of descriptor"};
  if (!part->is_finalized) throw Problem{kNotFinalized, "a part is not finalized"};
  return *part;
}

inline void require(bool condition, Status status, const std::string& text) {
  if (!condition) throw Problem{status, text};
}

/// Sets an attribute, which descriptors of this kind have.
void set_checked(DescriptorObject& d, Attribute attribute, Type type, int64_t count,
                 const void* elements);

/// Checks the attributes of a tensor, a convolution, an operation, a function of elements or a
/// graph, and notes what they say. False for other kinds.
bool finalize_part_of_graph(DescriptorObject& d);

}  // namespace emulation::cudnn

// CudnnDescriptor: a part of a graph of cuDNN, and the types of its attributes.
#pragma once
#include <memory>
#include <type_traits>
#include <vector>

#include "c10/cuda/libraries/Cudnn.h"

namespace c10::cuda::cudnn {

/// The library's name for the type of an attribute's elements.
template <class T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, Handle>) return Type::Handle;
  else if constexpr (std::is_same_v<T, DataType>) return Type::DataType;
  else if constexpr (std::is_same_v<T, bool>) return Type::Boolean;
  else if constexpr (std::is_same_v<T, int64_t>) return Type::Int64;
  else if constexpr (std::is_same_v<T, float>) return Type::Float;
  else if constexpr (std::is_same_v<T, double>) return Type::Double;
  else if constexpr (std::is_same_v<T, void*>) return Type::Pointer;
  // Enumerations of the library.
  else if constexpr (std::is_same_v<T, ConvolutionMode>) return Type::ConvolutionMode;
  else if constexpr (std::is_same_v<T, PointwiseMode>) return Type::PointwiseMode;
  else if constexpr (std::is_same_v<T, HeuristicMode>) return Type::HeuristicMode;
  else if constexpr (std::is_same_v<T, Note>) return Type::NumericalNote;
  else {
    static_assert(std::is_same_v<T, Descriptor>, "no attribute has elements of this type");
    return Type::Descriptor;
  }
}

/// A descriptor that is destroyed with this object. Attributes are set, then it is finalized, then
/// it can be used and asked. Failures throw c10::Error with the library's message.
class OwnedDescriptor {
 public:
  explicit OwnedDescriptor(Kind kind);
  OwnedDescriptor(OwnedDescriptor&&) noexcept = default;
  OwnedDescriptor& operator=(OwnedDescriptor&&) noexcept = default;

  Descriptor get() const { return object_.get(); }

  template <class T>
  void set(Attribute attribute, const T& value) {
    set(attribute, &value, 1);
  }
  template <class T>
  void set(Attribute attribute, const T* values, size_t count) {
    set_elements(attribute, type_of<T>(), static_cast<int64_t>(count), values);
  }
  void finalize();

  /// One element, or one descriptor.
  template <class T>
  T value(Attribute attribute) const {
    T found{};
    elements(attribute, type_of<T>(), 1, &found);
    return found;
  }
  /// At most `most` elements.
  template <class T>
  std::vector<T> values(Attribute attribute, int64_t most) const {
    std::vector<T> found(static_cast<size_t>(most));
    found.resize(static_cast<size_t>(elements(attribute, type_of<T>(), most, found.data())));
    return found;
  }
  /// Descriptors, which the library fills in.
  std::vector<OwnedDescriptor> descriptors(Attribute attribute, Kind kind, int64_t most) const;
  int64_t count(Attribute attribute, Type type) const;

 private:
  struct Destroy {
    void operator()(Descriptor descriptor) const { functions()->destroy_descriptor(descriptor); }
  };

  void set_elements(Attribute attribute, Type type, int64_t count, const void* elements);
  /// The number of elements that were written.
  int64_t elements(Attribute attribute, Type type, int64_t wanted, void* found) const;

  std::unique_ptr<DescriptorObject, Destroy> object_;
};

}  // namespace c10::cuda::cudnn

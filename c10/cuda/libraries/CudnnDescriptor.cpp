// Sets and reads attributes of cuDNN's descriptors.
#include "c10/cuda/libraries/CudnnDescriptor.h"

#include <algorithm>
#include <string>

#include "c10/util/Exception.h"

namespace c10::cuda::cudnn {

namespace {

/// As check, and says which attribute it was about.
void check_attribute(Status status, const char* call, Attribute attribute) {
  if (status == kSuccess) return;
  check(status, (std::string(call) + " of " + std::to_string(static_cast<int>(attribute))).c_str());
}

}  // namespace

OwnedDescriptor::OwnedDescriptor(Kind kind) {
  Descriptor created = nullptr;
  check(functions()->create_descriptor(kind, &created), "cudnnBackendCreateDescriptor");
  object_.reset(created);
}

void OwnedDescriptor::finalize() {
  check(functions()->finalize(object_.get()), "cudnnBackendFinalize");
}

void OwnedDescriptor::set_elements(Attribute attribute, Type type, int64_t count,
                                   const void* elements) {
  check_attribute(functions()->set_attribute(object_.get(), attribute, type, count, elements),
                  "cudnnBackendSetAttribute", attribute);
}

int64_t OwnedDescriptor::elements(Attribute attribute, Type type, int64_t wanted,
                                  void* found) const {
  int64_t count = 0;
  check_attribute(functions()->get_attribute(object_.get(), attribute, type, wanted, &count, found),
                  "cudnnBackendGetAttribute", attribute);
  return std::min(count, wanted);
}

int64_t OwnedDescriptor::count(Attribute attribute, Type type) const {
  int64_t count = 0;
  check_attribute(functions()->get_attribute(object_.get(), attribute, type, 0, &count, nullptr),
                  "cudnnBackendGetAttribute", attribute);
  return count;
}

std::vector<OwnedDescriptor> OwnedDescriptor::descriptors(Attribute attribute, Kind kind,
                                                          int64_t most) const {
  std::vector<OwnedDescriptor> found;
  std::vector<Descriptor> places;
  for (int64_t i = 0; i < most; ++i) {
    found.emplace_back(kind);
    places.push_back(found.back().get());
  }

  const int64_t written = elements(attribute, Type::Descriptor, most, places.data());
  found.erase(found.begin() + written, found.end());
  return found;
}

}  // namespace c10::cuda::cudnn

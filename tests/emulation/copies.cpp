// Emulated copies: checks of kinds and ranges, and what each waits for.
#include <cstring>
#include <utility>
#include <vector>

#include "tests/emulation/streams.h"

namespace emulation {

namespace {

enum class Side { Pageable, Pinned, Device };

Side side_of(const void* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  if (is_device_address(address)) return Side::Device;
  return find_block(address) != nullptr ? Side::Pinned : Side::Pageable;
}

/// One copy: rows of `width` bytes.
struct Copy {
  void* to;
  size_t to_pitch;
  const void* from;
  size_t from_pitch;
  size_t width;
  size_t height;

  size_t to_extent() const { return (height - 1) * to_pitch + width; }
  size_t from_extent() const { return (height - 1) * from_pitch + width; }
};

bool kind_fits(cudaMemcpyKind kind, Side to, Side from) {
  const bool to_device = to == Side::Device;
  const bool from_device = from == Side::Device;
  switch (kind) {
    case cudaMemcpyHostToHost: return !to_device && !from_device;
    case cudaMemcpyHostToDevice: return to_device && !from_device;
    case cudaMemcpyDeviceToHost: return !to_device && from_device;
    case cudaMemcpyDeviceToDevice: return to_device && from_device;
    case cudaMemcpyDefault: return true;
  }
  return false;
}

Use use_of(const void* pointer, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const Block* const block = find_block(address);
  return {address, bytes, block != nullptr ? block->serial : 0};
}

void move_rows(const Copy& copy) {
  auto* to = static_cast<uint8_t*>(readable(copy.to));
  const auto* from = static_cast<const uint8_t*>(readable(copy.from));
  for (size_t row = 0; row < copy.height; ++row)
    std::memmove(to + row * copy.to_pitch, from + row * copy.from_pitch, copy.width);
}

/// The copy with the bytes of pageable memory as they are now.
std::function<void()> staged(const Copy& copy) {
  const auto* const from = static_cast<const uint8_t*>(copy.from);
  return [copy, bytes = std::vector<uint8_t>(from, from + copy.from_extent())] {
    Copy from_stage = copy;
    from_stage.from = bytes.data();
    move_rows(from_stage);
  };
}

cudaError_t checked(const Copy& copy, cudaMemcpyKind kind, Side to, Side from) {
  if (!kind_fits(kind, to, from))
    return refuse(cudaErrorInvalidValue, "the kind of the copy does not fit the pointers");
  if (copy.to_pitch < copy.width || copy.from_pitch < copy.width) return cudaErrorInvalidValue;

  for (const auto& [pointer, bytes] :
       {std::pair{static_cast<const void*>(copy.to), copy.to_extent()},
        std::pair{copy.from, copy.from_extent()}}) {
    const std::string problem = problem_with(reinterpret_cast<uintptr_t>(pointer), bytes, -1);
    if (!problem.empty()) return refuse(cudaErrorInvalidValue, "copy: " + problem);
  }
  return cudaSuccess;
}

/// Puts a copy into a stream, and waits where CUDA does: for pageable memory, which the device
/// cannot reach by itself, and in `synchronous` calls.
cudaError_t copy_rows(const Copy& copy, cudaMemcpyKind kind, cudaStream_t handle,
                      bool synchronous) {
  const cudaStream_t stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (copy.width == 0 || copy.height == 0) return cudaSuccess;
  const Side to = side_of(copy.to);
  const Side from = side_of(copy.from);
  if (const cudaError_t error = checked(copy, kind, to, from)) return error;

  const bool pageable = to == Side::Pageable || from == Side::Pageable;
  const bool within_device = to == Side::Device && from == Side::Device;
  const bool waits = to == Side::Pageable || (synchronous && !within_device);
  if ((pageable || waits) && stream->capture != nullptr)
    return refuse_while_capturing(stream, "a copy of pageable memory");

  Operation operation{.name = "copy"};
  operation.uses = {use_of(copy.to, copy.to_extent())};
  if (from == Side::Pageable) operation.run = staged(copy);
  else {
    operation.run = [copy] { move_rows(copy); };
    operation.uses.push_back(use_of(copy.from, copy.from_extent()));
  }
  if (const cudaError_t error = append(stream, std::move(operation))) return error;
  return waits ? run_until(stream->last) : cudaSuccess;
}

Copy flat(void* to, const void* from, size_t bytes) { return {to, bytes, from, bytes, bytes, 1}; }

cudaError_t copy_between(void* to, int to_device, const void* from, int from_device, size_t bytes,
                         cudaStream_t stream) {
  const Block* const target = find_block(reinterpret_cast<uintptr_t>(to));
  const Block* const source = find_block(reinterpret_cast<uintptr_t>(from));
  const bool known =
      bytes == 0 || (target != nullptr && on_device(*target) && target->device == to_device &&
                     source != nullptr && on_device(*source) && source->device == from_device);
  if (!known) return refuse(cudaErrorInvalidValue, "peer copy: not memory of the devices named");
  return copy_rows(flat(to, from, bytes), cudaMemcpyDeviceToDevice, stream, false);
}

cudaError_t fill(void* to, int value, size_t bytes, cudaStream_t handle) {
  const cudaStream_t stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (bytes == 0) return cudaSuccess;
  if (side_of(to) == Side::Pageable) return cudaErrorInvalidValue;
  const std::string problem = problem_with(reinterpret_cast<uintptr_t>(to), bytes, -1);
  if (!problem.empty()) return refuse(cudaErrorInvalidValue, "memset: " + problem);

  return append(stream, {.name = "memset",
                         .run = [=] { std::memset(readable(to), value, bytes); },
                         .uses = {use_of(to, bytes)}});
}

}  // namespace

}  // namespace emulation

using namespace emulation;

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return call([&]() -> cudaError_t {
    if (const cudaError_t error = refuse_while_capturing("cudaMemcpy")) return error;
    return copy_rows(flat(to, from, bytes), kind, cudaStreamLegacy, true);
  });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return call([&] { return copy_rows(flat(to, from, bytes), kind, stream, false); });
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return call([&] {
    return copy_rows({to, to_pitch, from, from_pitch, width, height}, kind, stream, false);
  });
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           size_t bytes) {
  return call([&]() -> cudaError_t {
    if (const cudaError_t error = refuse_while_capturing("cudaMemcpyPeer")) return error;
    return copy_between(to, to_device, from, from_device, bytes, cudaStreamLegacy);
  });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                size_t bytes, cudaStream_t stream) {
  return call([&] { return copy_between(to, to_device, from, from_device, bytes, stream); });
}

cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return call([&]() -> cudaError_t {
    if (const cudaError_t error = refuse_while_capturing("cudaMemset")) return error;
    return fill(to, value, bytes, cudaStreamLegacy);
  });
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  return call([&] { return fill(to, value, bytes, stream); });
}

}  // extern "C"

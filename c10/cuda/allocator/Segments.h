// Segments: the memory that an allocator gets from a device, in granules or in whole segments.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace c10::cuda {

/// Physical memory is created, mapped and given back in pieces of this size.
constexpr size_t kGranule = size_t{2} << 20;

constexpr uintptr_t granule_floor(uintptr_t address) { return address / kGranule * kGranule; }
constexpr uintptr_t granule_ceiling(uintptr_t address) {
  return granule_floor(address + kGranule - 1);
}

/// A granule of physical memory; never 0.
using GranuleHandle = uint64_t;

/// The memory of one device. Called under the allocator's lock. Where the device has virtual
/// memory, address ranges are reserved and granules mapped into them; otherwise segments are
/// allocated and freed whole.
class Segments {
 public:
  virtual ~Segments() = default;

  /// Whether the first group of functions below works; if not, the second does.
  virtual bool maps_granules() const = 0;

  /// Reserves addresses without memory, aligned to a granule; 0 if that fails.
  virtual uintptr_t reserve(size_t bytes) = 0;
  virtual void release(uintptr_t address, size_t bytes) noexcept = 0;
  /// A new granule; 0 if the device has no memory left.
  virtual GranuleHandle create_granule() = 0;
  virtual void destroy_granule(GranuleHandle granule) noexcept = 0;
  /// Maps granules one after another; false if the driver refuses, with nothing mapped.
  virtual bool map(uintptr_t address, const GranuleHandle* granules, size_t count) = 0;
  /// Removes mappings. No work that uses the addresses may be left on the device.
  virtual void unmap(uintptr_t address, size_t count) noexcept = 0;

  /// A new segment; 0 if the device has no memory left.
  virtual uintptr_t allocate(size_t bytes) = 0;
  virtual void free(uintptr_t address) noexcept = 0;

  /// Free and total bytes of the device, for limits and messages.
  virtual std::pair<size_t, size_t> memory_info() = 0;
};

/// The memory of a CUDA device: granules where the driver has virtual memory functions and the
/// device the attribute, cudaMalloc otherwise.
std::unique_ptr<Segments> make_cuda_segments(int device);
/// The two kinds by themselves, for tests.
std::unique_ptr<Segments> make_plain_segments(int device);

}  // namespace c10::cuda

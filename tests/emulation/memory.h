// Emulated memory: what is allocated where, and what of it a device or the host may touch.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace emulation {

// Note [Addresses]
// Device memory has addresses in one large range without access rights, so that host code which
// reads a device pointer stops at its own line. The same bytes are readable at the address plus a
// constant (the alias), where kernels, copies and emulated libraries find them. Only what is
// allocated is readable there: between blocks lies at least one page without rights, and what is
// freed loses them. The bytes are those of an unnamed file, which lets another process map them.

enum class Kind : uint8_t { Device, Mapped, Imported, Pinned, Registered };

struct Block {
  uintptr_t begin = 0;
  size_t bytes = 0;     // that may be used
  size_t capacity = 0;  // bytes up to the end of the last page
  Kind kind = Kind::Device;
  int device = 0;        // which owns the bytes; for host memory: current when it was allocated
  uint64_t serial = 0;   // distinguishes blocks that were at the same address
  size_t offset = 0;     // of the bytes in the file; unused for host memory
  uint64_t handle = 0;   // Mapped: the physical memory
  uint32_t readers = 0;  // Mapped: a bit for each device that was given access
};

inline bool on_device(const Block& block) { return block.kind <= Kind::Imported; }

/// Whether the address lies in the range of device addresses, allocated or not.
bool is_device_address(uintptr_t address);
/// The block that holds an address, null outside of all.
const Block* find_block(uintptr_t address);

/// A stretch of addresses that work will use.
struct Use {
  uintptr_t begin = 0;
  size_t bytes = 0;
  uint64_t serial = 0;  // of the block it began in
};

/// Checks that `bytes` at an address are allocated without a gap and that `device` (-1: a copy
/// engine, which reaches all) has access. Returns the problem or nothing.
std::string problem_with(uintptr_t address, size_t bytes, int device);

// For the rest of the memory functions.
size_t page_size();
size_t rounded_up(size_t bytes, size_t granule);
/// A free stretch of device addresses, 0 where all is taken.
uintptr_t take_addresses(size_t bytes, size_t alignment);
void give_addresses(uintptr_t begin, size_t bytes);
/// Maps bytes of a file as the alias of `address`, or takes the rights away again.
void map_alias(uintptr_t address, size_t bytes, int file, size_t offset);
void unmap_alias(uintptr_t address, size_t bytes);
/// The file with the bytes of all device memory.
int memory_file();
/// Bytes of the file beyond those that belong to addresses, for physical memory without address.
size_t take_physical(size_t bytes);
void give_physical(size_t offset, size_t bytes);
void insert_block(const Block& block);
/// Replaces the block that begins at the same address.
void change_block(const Block& block);
void erase_block(uintptr_t begin);
/// Names work in a queue that will use the memory, which so cannot be removed; empty without such.
std::string waiting_user(uintptr_t begin, size_t bytes);

}  // namespace emulation

// What a heap holds: statistics, the snapshot, and the message when memory runs out.
#include <algorithm>
#include <cstdio>
#include <string_view>

#include "c10/cuda/allocator/Heap.h"

namespace c10::cuda {

namespace {

/// Mapped memory without a hole: the blocks [first, end).
struct MappedRun {
  const Block* first;
  const Block* end;

  uintptr_t address() const { return first->address; }
  size_t bytes() const { return end->address - first->address; }
};

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') out += '\\';
    out += static_cast<unsigned char>(character) < 0x20 ? ' ' : character;
  }
  return out + '"';
}

void append_number(std::string& json, const char* name, uint64_t value) {
  json += quoted(name) + ": " + std::to_string(value) + ", ";
}

std::string stream_number(const Block& block) {
  return std::to_string(block.stream == nullptr ? 0 : block.stream->id);
}

/// The operator is shown where PyTorch shows the stack of Python frames.
std::string frames(const Block& block) {
  if (block.state != BlockState::Live || block.operator_name == nullptr) return "[]";
  return "[{\"filename\": \"operator\", \"line\": 0, \"name\": " + quoted(block.operator_name) +
         "}]";
}

void append_block(std::string& json, const Block& block) {
  const bool is_live = block.state == BlockState::Live;
  json += "{";
  append_number(json, "address", block.address);
  append_number(json, "size", block.bytes);
  append_number(json, "requested_size", is_live ? block.requested : 0);
  json += "\"state\": ";
  json += is_live ? "\"active_allocated\"" : "\"inactive\"";
  json += ", \"frames\": " + frames(block) + "}";
}

void append_run(std::string& json, int device, const MappedRun& run, bool is_expandable) {
  const Area& area = *run.first->area;
  size_t allocated = 0;
  size_t requested = 0;
  for (const Block* block = run.first; block != run.end; block = block->after) {
    if (block->state != BlockState::Live) continue;
    allocated += block->bytes;
    requested += block->requested;
  }

  json += "{\"device\": " + std::to_string(device) + ", ";
  const PoolId id = area.pool.id;
  json += "\"segment_pool_id\": [" + std::to_string(id.first) + ", " + std::to_string(id.second) +
          "], ";
  append_number(json, "address", run.address());
  append_number(json, "total_size", run.bytes());
  append_number(json, "allocated_size", allocated);
  append_number(json, "active_size", allocated);
  append_number(json, "requested_size", requested);
  json += "\"stream\": " + stream_number(*run.first) + ", ";
  json += area.is_small ? "\"segment_type\": \"small\", " : "\"segment_type\": \"large\", ";
  json += is_expandable ? "\"is_expandable\": true, " : "\"is_expandable\": false, ";
  json += "\"frames\": [], \"blocks\": [";

  const char* separator = "";
  for (const Block* block = run.first; block != run.end; block = block->after) {
    json += separator;
    append_block(json, *block);
    separator = ", ";
  }
  json += "]}";
}

template <class Function>
void for_each_run(const Area& area, Function function) {
  for (const auto& range : area.ranges()) {
    const Block* block = range->first->after;
    while (block != range->last) {
      const Block* const first = block;
      while (block != range->last && block->state != BlockState::Hole) block = block->after;
      if (block != first) function(MappedRun{first, block});
      if (block != range->last) block = block->after;
    }
  }
}

/// "1.50 GiB"; PyTorch's messages look the same.
std::string size_text(size_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return std::to_string(bytes) + " bytes";

  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %s", value, kUnits[unit]);
  return text;
}

/// The live blocks that one operator has allocated.
struct OperatorGroup {
  std::string_view name;
  size_t bytes = 0;
  size_t blocks = 0;
};

void count_in(std::vector<OperatorGroup>& groups, const Block& block) {
  const std::string_view name =
      block.operator_name != nullptr ? block.operator_name : "outside of operators";
  auto group = std::find_if(groups.begin(), groups.end(),
                            [&](const OperatorGroup& each) { return each.name == name; });
  if (group == groups.end()) group = groups.insert(groups.end(), {name});
  group->bytes += block.bytes;
  ++group->blocks;
}

std::string describe_groups(std::vector<OperatorGroup> groups) {
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  if (groups.size() > 5) groups.resize(5);

  std::string text;
  for (const OperatorGroup& group : groups) {
    text += "\n  " + size_text(group.bytes) + " in " + std::to_string(group.blocks) +
            (group.blocks == 1 ? " block: " : " blocks: ") + std::string(group.name);
  }
  return text;
}

}  // namespace

template <class Function>
void Heap::for_each_area(Function function) {
  for (const auto& [id, pool] : pools_) {
    function(pool->small);
    function(pool->large);
  }
}

NamedNumbers Heap::statistics() {
  const std::lock_guard lock(mutex_);
  return memory_.statistics.named();
}

void Heap::reset_peaks() {
  const std::lock_guard lock(mutex_);
  memory_.statistics.reset_peaks();
}

void Heap::reset_accumulated() {
  const std::lock_guard lock(mutex_);
  memory_.statistics.reset_accumulated();
}

void Heap::append_snapshot(std::string& json) {
  const std::lock_guard lock(mutex_);
  const bool is_expandable = memory_.segments.maps_granules();

  for_each_area([&](const Area& area) {
    for_each_run(area, [&](const MappedRun& run) {
      if (json.back() == '}') json += ", ";
      append_run(json, device, run, is_expandable);
    });
  });
}

BaseAllocation Heap::base_of(uintptr_t address) {
  const std::lock_guard lock(mutex_);
  BaseAllocation base;

  for_each_area([&](const Area& area) {
    const AddressRange* const range = area.range_of(address);
    if (range == nullptr) return;
    if (!memory_.segments.maps_granules()) {
      base = {range->address, range->bytes, {}};
      return;
    }

    const Block* block = range->first;
    while (block->end() <= address) block = block->after;
    base.address = granule_floor(block->address);
    base.bytes = granule_ceiling(block->end()) - base.address;
    const size_t first = (base.address - range->address) / kGranule;
    for (size_t i = 0; i < base.bytes / kGranule; ++i)
      base.granules.push_back(range->granules.at(first + i));
  });
  return base;
}

std::string Heap::describe_shortage(size_t requested) {
  const auto [free_bytes, total_bytes] = memory_.segments.memory_info();
  size_t largest = 0;
  std::vector<OperatorGroup> groups;
  for_each_area([&](const Area& area) {
    for_each_run(area, [&](const MappedRun& run) {
      for (const Block* block = run.first; block != run.end; block = block->after) {
        if (block->state == BlockState::Live) count_in(groups, *block);
        if (block->state == BlockState::Free) largest = std::max(largest, block->bytes);
      }
    });
  });

  const size_t reserved = static_cast<size_t>(memory_.statistics.reserved_bytes.all.current);
  const size_t allocated = static_cast<size_t>(memory_.statistics.allocated_bytes.all.current);
  const size_t elsewhere = total_bytes - std::min(total_bytes, free_bytes + reserved);

  std::string text = "CUDA out of memory. Tried to allocate " + size_text(requested) + ". GPU " +
                     std::to_string(device) + " has a total capacity of " + size_text(total_bytes) +
                     " of which " + size_text(free_bytes) + " is free. ";
  if (fraction_ < 1.0) {
    text += size_text(static_cast<size_t>(fraction_ * static_cast<double>(total_bytes))) +
            " are allowed by set_per_process_memory_fraction. ";
  }
  text += "This process has reserved " + size_text(reserved) +
          " for tensors: " + size_text(allocated) + " are in use, and the largest free block has " +
          size_text(largest) + ". Other processes and libraries use " + size_text(elsewhere) + ".";
  if (!groups.empty()) text += " The memory in use by operator:" + describe_groups(groups);
  return text;
}

}  // namespace c10::cuda

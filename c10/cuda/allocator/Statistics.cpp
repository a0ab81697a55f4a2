// Names of the statistics, and resets.
#include "c10/cuda/allocator/Statistics.h"

namespace c10::cuda {

namespace {

void append(NamedNumbers& out, const std::string& prefix, const Counter& counter) {
  out.emplace_back(prefix + ".allocated", counter.allocated);
  out.emplace_back(prefix + ".current", counter.current);
  out.emplace_back(prefix + ".freed", counter.freed);
  out.emplace_back(prefix + ".peak", counter.peak);
}

void append(NamedNumbers& out, const std::string& name, const CounterByKind& counters) {
  append(out, name + ".all", counters.all);
  append(out, name + ".large_pool", counters.large);
  append(out, name + ".small_pool", counters.small);
}

template <class Function>
void for_each_counter(Statistics& statistics, Function function) {
  for (CounterByKind* const counters :
       {&statistics.allocation, &statistics.allocated_bytes, &statistics.requested_bytes,
        &statistics.segment, &statistics.reserved_bytes, &statistics.inactive_split,
        &statistics.inactive_split_bytes}) {
    function(counters->all);
    function(counters->small);
    function(counters->large);
  }
}

}  // namespace

void Statistics::reset_peaks() {
  for_each_counter(*this, [](Counter& counter) { counter.peak = counter.current; });
}

void Statistics::reset_accumulated() {
  for_each_counter(*this, [](Counter& counter) {
    counter.allocated = 0;
    counter.freed = 0;
  });

  alloc_retries = 0;
  ooms = 0;
  device_allocs = 0;
  device_frees = 0;
  sync_all_streams = 0;
}

NamedNumbers Statistics::named() const {
  NamedNumbers out;
  append(out, "active", allocation);
  append(out, "active_bytes", allocated_bytes);
  append(out, "allocated_bytes", allocated_bytes);
  append(out, "allocation", allocation);
  append(out, "inactive_split", inactive_split);
  append(out, "inactive_split_bytes", inactive_split_bytes);

  out.emplace_back("max_split_size", -1);
  out.emplace_back("num_alloc_retries", alloc_retries);
  out.emplace_back("num_device_alloc", device_allocs);
  out.emplace_back("num_device_free", device_frees);
  out.emplace_back("num_oom_rejections", 0);
  out.emplace_back("num_ooms", ooms);
  out.emplace_back("num_sync_all_streams", sync_all_streams);
  // Blocks of any size are split, so none counts as oversize.
  append(out, "oversize_allocations", Counter());
  append(out, "oversize_segments", Counter());

  append(out, "requested_bytes", requested_bytes);
  append(out, "reserved_bytes", reserved_bytes);
  append(out, "segment", segment);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace c10::cuda

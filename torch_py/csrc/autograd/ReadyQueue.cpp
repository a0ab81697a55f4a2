// The queue of nodes that a thread is to run.
#include "torch_py/csrc/autograd/ReadyQueue.h"

#include <algorithm>

#include "torch_py/csrc/autograd/GraphTask.h"

namespace torch::autograd {

namespace {

bool runs_later(const ReadyQueue::Item& a, const ReadyQueue::Item& b) {
  return a.depth != b.depth ? a.depth < b.depth : a.sequence_nr < b.sequence_nr;
}

}  // namespace

void ReadyQueue::push(const Item& item) {
  {
    const std::lock_guard lock(mutex_);
    heap_.push_back(item);
    std::push_heap(heap_.begin(), heap_.end(), runs_later);
  }
  changed_.notify_one();
}

ReadyQueue::Item ReadyQueue::take() {
  std::pop_heap(heap_.begin(), heap_.end(), runs_later);
  const Item item = heap_.back();
  heap_.pop_back();
  return item;
}

ReadyQueue::Item ReadyQueue::pop() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !heap_.empty(); });
  return take();
}

std::optional<ReadyQueue::Item> ReadyQueue::pop_unless_done(const GraphTask& task) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !heap_.empty() || task.outstanding == 0; });
  if (task.outstanding == 0) return std::nullopt;
  return take();
}

void ReadyQueue::add_outstanding(GraphTask& task) {
  const std::lock_guard lock(mutex_);
  ++task.outstanding;
}

void ReadyQueue::finish(GraphTask& task) {
  const std::lock_guard lock(mutex_);
  // Notify under the lock: the owner may destroy this queue as soon as it sees that the task is
  // done.
  if (--task.outstanding == 0) changed_.notify_all();
}

}  // namespace torch::autograd

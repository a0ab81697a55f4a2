// The queue of nodes that a thread is to run.
#pragma once
#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "torch_py/csrc/autograd/Node.h"

namespace torch::autograd {

class GraphTask;

/// Nodes ready to run on one thread, those of the latest forward operator first. The owner of a
/// backward pass has one queue; every device thread has one that serves all passes.
class ReadyQueue {
 public:
  struct Item {
    GraphTask* task;
    uint32_t state;  // index in the task
    uint64_t sequence_nr;
    int depth;  // of nested backward passes; the innermost goes first, because others wait for it
  };

  void push(const Item& item);
  /// Blocks until there is an item.
  Item pop();
  /// Blocks until there is an item. Returns nullopt once the task, which must own this queue, has
  /// nothing left to run on any thread.
  std::optional<Item> pop_unless_done(const GraphTask& task);

  // Counts a task's items that wait or run. The owner's queue guards the count, so that the owner
  // cannot miss the last one.
  void add_outstanding(GraphTask& task);
  void finish(GraphTask& task);

 private:
  Item take();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Item> heap_;  // a heap by depth and sequence number
};

}  // namespace torch::autograd

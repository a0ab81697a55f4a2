#pragma once
#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "torch_py/csrc/autograd/Node.h"

namespace torch::autograd {

class GraphTask;

/// Nodes that one thread is to run, latest forward operator first. The owner of a backward pass has
/// one; every device thread has one that serves all passes.
class ReadyQueue {
 public:
  struct Item {
    GraphTask* task;
    uint32_t state;  // index in the task
    uint64_t sequence_nr;
    int depth;  // of nested backward passes: the innermost is being waited for
  };

  void push(const Item& item);
  /// Blocks until there is one.
  Item pop();
  /// Blocks until there is one; empty once the task, which this queue owns, has nothing left to run
  /// on any thread.
  std::optional<Item> pop_unless_done(const GraphTask& task);

  // Count of a task's items that are waiting or running, guarded by its owner's queue, so that the
  // owner cannot miss the last.
  void add_outstanding(GraphTask& task);
  void finish(GraphTask& task);

 private:
  Item take();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Item> heap_;
};

}  // namespace torch::autograd

// PerThread: objects that threads do not share and that outlive them.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

namespace c10::cuda {

/// A T for each thread. A thread that ends leaves its T to one that starts later. None is ever
/// destroyed: when the process ends, the driver may be gone before the objects.
template <class T>
class PerThread {
 public:
  static T& current() {
    thread_local const Lent lent;
    return *lent.object;
  }

 private:
  struct Free {
    std::mutex mutex;
    std::vector<T*> objects;
  };

  static Free& free_ones() {
    static auto* const free = new Free;
    return *free;
  }

  struct Lent {
    T* object;

    Lent() {
      Free& free = free_ones();
      const std::lock_guard lock(free.mutex);
      if (free.objects.empty()) free.objects.push_back(new T);
      object = free.objects.back();
      free.objects.pop_back();
    }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;
    ~Lent() {
      Free& free = free_ones();
      const std::lock_guard lock(free.mutex);
      free.objects.push_back(object);
    }
  };
};

}  // namespace c10::cuda

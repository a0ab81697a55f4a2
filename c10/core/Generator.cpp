// The generators that operators draw from when none is given.
#include "c10/core/Generator.h"

#include <memory>
#include <vector>

#include "c10/core/DeviceHooks.h"
#include "c10/core/PhiloxGenerator.h"
#include "c10/util/Exception.h"

namespace c10 {

namespace {

/// One generator per device of a type. Never destroyed: Python holds references to the generators.
struct DeviceGenerators {
  std::mutex mutex;
  std::vector<std::unique_ptr<PhiloxGenerator>> generators;  // null for devices not used so far
  uint64_t seed = Generator::kDefaultSeed;                   // of devices that are used later
};

DeviceGenerators& generators_of(DeviceType type) {
  static auto* const tables = new DeviceGenerators[kNumDeviceTypes];
  return tables[static_cast<int>(type)];
}

}  // namespace

Generator::Generator(uint64_t seed, Device device) : device(device), seed(seed), engine(seed) {}

Generator::~Generator() = default;

void Generator::set_seed(uint64_t value) {
  seed = value;
  engine = MT19937(static_cast<uint32_t>(value));
  next_normal.reset();
}

Generator& default_cpu_generator() {
  static Generator generator;
  return generator;
}

PhiloxGenerator::PhiloxGenerator(Device device, uint64_t seed) : Generator(seed, device) {}

void PhiloxGenerator::set_seed(uint64_t value) {
  Generator::set_seed(value);
  offset = 0;
}

void PhiloxGenerator::seed_host_engine() {
  // Neighbouring counters must not give neighbouring seeds (splitmix64 by Steele and others).
  uint64_t mixed = seed + 0x9E3779B97F4A7C15ULL * (offset + 1);
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;

  engine = MT19937(static_cast<uint32_t>(mixed ^ (mixed >> 31)));
  next_normal.reset();
  offset += 4;
}

Generator& default_generator(Device device) {
  if (!is_accelerator(device)) return default_cpu_generator();

  const Device where = resolved(device);
  if (!where.has_index()) device_hooks(device.type);  // throws: no backend is loaded
  const auto index = static_cast<size_t>(where.index);

  DeviceGenerators& table = generators_of(where.type);
  const std::lock_guard lock(table.mutex);
  if (table.generators.size() <= index) table.generators.resize(index + 1);

  std::unique_ptr<PhiloxGenerator>& generator = table.generators[index];
  if (generator == nullptr) generator = std::make_unique<PhiloxGenerator>(where, table.seed);
  return *generator;
}

void seed_generators(DeviceType type, uint64_t seed) {
  DeviceGenerators& table = generators_of(type);
  const std::lock_guard lock(table.mutex);
  table.seed = seed;

  for (const std::unique_ptr<PhiloxGenerator>& generator : table.generators) {
    if (generator == nullptr) continue;
    const std::lock_guard drawing(generator->mutex);
    generator->set_seed(seed);
  }
}

}  // namespace c10

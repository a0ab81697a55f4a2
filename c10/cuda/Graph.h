// Graph: work of streams that is recorded once and runs again as a whole.
#pragma once

#include <memory>

#include "c10/core/DeviceGraph.h"
#include "c10/core/Stream.h"

namespace c10::cuda {

/// A graph that has recorded nothing; see DeviceHooks::new_graph.
std::unique_ptr<DeviceGraph> make_graph(bool keep_graph);
/// Whether work put into the stream is being recorded.
bool is_capturing(Stream stream);

}  // namespace c10::cuda

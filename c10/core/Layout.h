// Layouts (strided, sparse, mkldnn) and memory formats (channels last) with their Python names.
#pragma once
#include <cstdint>
#include <string>

namespace c10 {

enum class Layout : int8_t {
  Strided = 0,
  Sparse,
  SparseCsr,
  SparseCsc,
  SparseBsr,
  SparseBsc,
  Mkldnn
};

enum class MemoryFormat : int8_t { Contiguous = 0, Preserve, ChannelsLast, ChannelsLast3d };

inline const char* layout_name(Layout layout) {
  switch (layout) {
    case Layout::Strided: return "strided";
    case Layout::Sparse: return "sparse_coo";
    case Layout::SparseCsr: return "sparse_csr";
    case Layout::SparseCsc: return "sparse_csc";
    case Layout::SparseBsr: return "sparse_bsr";
    case Layout::SparseBsc: return "sparse_bsc";
    case Layout::Mkldnn: return "_mkldnn";
  }
  return "unknown";
}

inline const char* memory_format_name(MemoryFormat format) {
  switch (format) {
    case MemoryFormat::Contiguous: return "contiguous_format";
    case MemoryFormat::Preserve: return "preserve_format";
    case MemoryFormat::ChannelsLast: return "channels_last";
    case MemoryFormat::ChannelsLast3d: return "channels_last_3d";
  }
  return "unknown";
}

/// In messages, PyTorch writes the mkldnn layout without the underscore of its Python name.
inline void append_to(std::string& out, Layout layout) {
  out += layout == Layout::Mkldnn ? "Mkldnn" : layout_name(layout);
}
inline void append_to(std::string& out, MemoryFormat format) { out += memory_format_name(format); }

}  // namespace c10

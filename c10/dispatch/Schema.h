// OperatorSchema: what a schema says about the arguments and results of an operator.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "c10/util/Export.h"

namespace c10 {

/// The types that schemas are made of. SymInt is an Int, complex a Scalar. Object is what operators
/// declared in Python may take in addition: dicts, lists of lists, objects of classes, Any.
enum class SchemaType : uint8_t {
  Tensor,
  Scalar,
  Int,
  Float,
  Bool,
  String,
  ScalarType,
  Layout,
  Device,
  MemoryFormat,
  Generator,
  Object,
};

/// "Tensor(a!)[]? out=None": one argument, or one result.
struct SchemaValue {
  SchemaType type = SchemaType::Tensor;
  bool is_list = false;
  bool is_optional = false;            // None is a value
  bool has_optional_elements = false;  // Tensor?[]
  int list_size = 0;                   // of int[2]: a lone int stands for both; 0 without a size
  bool is_written = false;             // (a!)
  bool is_keyword_only = false;
  std::string alias;                        // "a" of (a) and (a!); empty without an annotation
  std::string type_text;                    // "Tensor(a!)[]?", as written
  std::string name;                         // of a result: may be empty
  std::optional<std::string> default_text;  // as written: "1", "[0, 1]", "None", "mean"
};

/// Made from the text of an entry or of torch.library.define on first use, so that calls pay
/// nothing for it.
struct TORCH_PY_API OperatorSchema {
  std::string name;      // "add", "namespace::add"
  std::string overload;  // "Tensor"; empty for the overload without a name
  std::vector<SchemaValue> arguments;
  std::vector<SchemaValue> results;

  /// The position of an argument; -1 for an unknown name.
  int position(std::string_view argument) const;
  /// Whether the operator writes to an argument.
  bool is_mutable() const;
};

/// Parses "name.overload(Tensor self, *, int n=1) -> Tensor"; ValueError that shows the place, or
/// RuntimeError for an unknown type.
TORCH_PY_API OperatorSchema parse_schema(std::string_view text);

}  // namespace c10

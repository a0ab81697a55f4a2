// Operators that are declared while the program runs: entries without a signature in C++.
#include "aten/dispatch/RuntimeOperator.h"

#include "aten/core/Value.h"
#include "aten/dispatch/Register.h"
#include "c10/util/Exception.h"

namespace at {

namespace {

DispatchKeySet keys_of_arguments(const Stack& stack) {
  DispatchKeySet keys;
  for (const Value& value : stack) {
    if (value.is<Tensor>()) keys = keys | keys_of(value.get<Tensor>());
    if (value.is<Value::Tensors>()) keys = keys | keys_of(value.get<Value::Tensors>());
  }
  return keys_or_cpu(keys);
}

/// Boxing::unbox. Kernels are boxed, so what gets here is a call of the operator.
void dispatch(const OperatorEntry& entry, void*, const DispatchKeySet*, Stack& stack) {
  entry.redispatch_boxed(effective_keys(keys_of_arguments(stack)), stack);
}

/// Boxing::address: a mark in the table for keys with a boxed kernel.
void* mark(c10::Boxing::Function) { return reinterpret_cast<void*>(&dispatch); }

/// An entry and the texts that it refers to.
struct RuntimeOperator {
  RuntimeOperator(std::string given_name, std::string_view schema, std::string_view tags)
      : name(std::move(given_name)),
        schema(schema),
        tags(tags),
        entry(name.c_str(), this->schema.c_str(), {"", this->tags.c_str(), ""}, {&mark, &dispatch},
              kAutocastKeys | kRecordingKeys) {}

  const std::string name;
  const std::string schema;
  const std::string tags;
  OperatorEntry entry;
};

}  // namespace

OperatorEntry& declare_operator(std::string_view schema, std::string_view tags) {
  const c10::OperatorSchema parsed = c10::parse_schema(schema);
  const std::string name =
      parsed.overload.empty() ? parsed.name : parsed.name + "." + parsed.overload;
  if (const OperatorEntry* known = Dispatcher::singleton().find(name)) {
    TORCH_CHECK(false, "Tried to register an operator (", schema,
                ") with the same name and overload name multiple times: it is declared as ",
                known->schema_text());
  }

  // Never freed: a call, or an object of the program, may know the entry for ever.
  auto* made = new RuntimeOperator(name, schema, tags);
  Dispatcher::singleton().add(&made->entry);
  return made->entry;
}

}  // namespace at

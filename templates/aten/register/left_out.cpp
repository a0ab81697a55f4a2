// {{ f.schema }}
constinit OperatorEntry {{ f.struct }}::entry({{ f.entry_name|cpp_string }}, {{ f.entry_schema|cpp_string }}, {{ r.facts(f) }}, left_out::boxing());
{{ f.result }} {{ f.struct }}::call({{ f.types|commas }}) {
  left_out::refuse(entry);
}
{{ f.result }} {{ f.struct }}::redispatch(DispatchKeySet{{ f.types|more }}) {
  left_out::refuse(entry);
}

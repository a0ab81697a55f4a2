// {{ f.schema }}
constinit OperatorEntry {{ f.struct }}::entry({{ f.entry_name|cpp_string }}, {{ f.entry_schema|cpp_string }}, {{ r.facts(f) }}, boxing::boxing_of<{{ f.struct }}>());
{{ f.result }} {{ f.struct }}::call({{ f.parameters|commas }}) {
  const DispatchKeySet keys = effective_keys({{ r.key_expression(f) }});
  return entry.lookup<Schema*>(keys)(keys{{ f.names|more }});
}
{{ f.result }} {{ f.struct }}::redispatch(DispatchKeySet keys{{ f.parameters|more }}) {
  return entry.lookup<Schema*>(keys)(keys{{ f.names|more }});
}

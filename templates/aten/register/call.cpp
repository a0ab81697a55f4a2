// {{ f.schema }}
constinit OperatorEntry {{ f.struct }}::entry({{ f.entry_name|cpp_string }}, {{ f.schema|string|cpp_string }}, {{ r.facts(f) }}, boxing::boxing_of<{{ f.struct }}>());
{{ f.result }} {{ f.struct }}::call({{ f.parameters|commas }}) {
{% if f.casts %}
  constexpr autocast::Policies policies{{ "{" }}{{ f.autocast_policies|commas }}};
  if (autocast::is_active(policies)) {
    const autocast::Suspended inside(policies);
{% if "promote" in f.operator.autocast.words %}
    autocast::Cast cast({{ f.name|cpp_string }}, policies, inside);
{% for argument in f.tensors %}
    cast.see({{ argument.name }});
{% endfor %}
{% else %}
    const autocast::Cast cast({{ f.name|cpp_string }}, policies, inside);
{% endif %}
    return call({{ f.cast_names|commas }});
  }

{% endif %}
  const DispatchKeySet keys = effective_keys({{ r.key_expression(f) }});
  return entry.lookup<Schema*>(keys.highest())(keys{{ f.names|more }});
}
{{ f.result }} {{ f.struct }}::redispatch(DispatchKeySet keys{{ f.parameters|more }}) {
  return entry.lookup<Schema*>(keys.highest())(keys{{ f.names|more }});
}

{# An out= form refuses tensors that require gradients, and records nothing. #}
{{ f.result }} {{ f.struct }}(DispatchKeySet keys{{ f.parameters|more }}) {
  check_out_requires_no_grad({{ f.python_name|cpp_string }}{{ f.tensors|map(attribute="name")|more }});
  AutoDispatchBelowAutograd below;
  return ops::{{ f.struct }}::redispatch(keys & kBelowAutograd{{ f.names|more }});
}

{{ fill(f.result ~ " " ~ f.struct ~ "(", ["DispatchKeySet keys", f.parameters], ") {") }}
{{ fill("  check_out_requires_no_grad(" ~ f.python_name|cpp_string ~ ", ", f.tensors|map(attribute="name")|list, ");") }}
  AutoDispatchBelowAutograd below;
{{ fill("  return ops::" ~ f.struct ~ "::redispatch(", ["keys & kBelowAutograd", f.names], ");") }}
}

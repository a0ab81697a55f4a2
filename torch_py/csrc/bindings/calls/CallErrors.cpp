// The TypeErrors for calls that no signature accepts, in PyTorch's words.
#include "torch_py/csrc/bindings/calls/CallErrors.h"

#include <cstring>
#include <string>
#include <vector>

namespace torch::python {

namespace {

/// One argument as the caller wrote it. Positional arguments come first, then keywords.
struct Given {
  const char* keyword;  // null for a positional argument
  PyObject* value;
};

/// The required parameters that a call leaves out.
struct Missing {
  int count = 0;
  std::string names;
};

/// The parameters that the caller passes: all but a method's own tensor.
std::vector<const Parameter*> visible_parameters(const Signature& signature) {
  std::vector<const Parameter*> result;
  for (int i = 0; i < signature.count; ++i) {
    if (i != signature.self) result.push_back(&signature.parameters[i]);
  }
  return result;
}

std::vector<Given> given_arguments(const WrongCall& call) {
  std::vector<Given> result;
  for (Py_ssize_t i = 0; i < call.nargs; ++i) result.push_back({nullptr, call.args[i]});
  for (Py_ssize_t i = 0; call.kwnames != nullptr && i < PyTuple_GET_SIZE(call.kwnames); ++i) {
    const char* keyword = PyUnicode_AsUTF8(PyTuple_GET_ITEM(call.kwnames, i));
    if (keyword == nullptr) throw PythonError();
    result.push_back({keyword, call.args[call.nargs + i]});
  }
  return result;
}

/// "(Tensor input, *, Number alpha = 1)": the text without the function's name.
std::string signature_text(const Signature& signature) {
  const char* open = std::strchr(signature.text, '(');
  return open != nullptr ? open : signature.text;
}

/// "Tensor", or with the types of up to eight elements "list of [int, str]".
std::string given_type(PyObject* object) {
  if (!is_sequence(object) || sequence_length(object) == 0) return type_name(object);
  std::string text = std::string(PyTuple_Check(object) ? "tuple" : "list") + " of ";
  const char open = PyTuple_Check(object) ? '(' : '[';
  const char close = PyTuple_Check(object) ? ')' : ']';

  text += open;
  for (Py_ssize_t i = 0; i < sequence_length(object) && i < 8; ++i)
    text += std::string(i ? ", " : "") + type_name(sequence_item(object, i));
  return text + close;
}

/// The parameter that an argument is for, or null.
const Parameter* parameter_of(const std::vector<const Parameter*>& parameters, const Given& given,
                              size_t position) {
  if (given.keyword == nullptr) {
    const bool is_positional =
        position < parameters.size() && !parameters[position]->has(kKeywordOnly);
    return is_positional ? parameters[position] : nullptr;
  }

  for (const Parameter* parameter : parameters) {
    if (keyword_matches(given.keyword, parameter->name)) return parameter;
  }
  return nullptr;
}

bool is_varargs(const std::vector<const Parameter*>& parameters) {
  return !parameters.empty() && parameters[0]->has(kVarargs);
}

/// Too many positional arguments.
void check_count(const WrongCall& call, const std::vector<const Parameter*>& parameters) {
  Py_ssize_t most = 0;
  Py_ssize_t least = 0;
  for (const Parameter* parameter : parameters) {
    most += !parameter->has(kKeywordOnly);
    least += !parameter->has(kKeywordOnly) && !parameter->has(kOptional);
  }
  if (call.nargs <= most || (is_varargs(parameters) && is_int(call.args[0]))) return;

  const char* verb = call.nargs == 1 ? "was" : "were";
  if (least == most) {
    throw_python(PyExc_TypeError, "%s() takes %zd positional argument%s but %zd %s given",
                 call.function.name, most, most == 1 ? "" : "s", call.nargs, verb);
  }
  throw_python(PyExc_TypeError, "%s() takes from %zd to %zd positional arguments but %zd %s given",
               call.function.name, least, most, call.nargs, verb);
}

/// An argument of the wrong type.
void check_types(const WrongCall& call, const std::vector<const Parameter*>& parameters,
                 const std::vector<Given>& given) {
  for (size_t i = 0; i < given.size(); ++i) {
    const Parameter* parameter = parameter_of(parameters, given[i], i);
    if (parameter == nullptr) continue;

    PyObject* value = given[i].value;

    // For a list of tensors the message names the element.
    const bool is_list =
        parameter->kind == Kind::TensorList || parameter->kind == Kind::OptionalTensorList;
    for (Py_ssize_t k = 0; is_list && is_sequence(value) && k < sequence_length(value); ++k) {
      PyObject* item = sequence_item(value, k);
      if (is_tensor(item) || (item == Py_None && parameter->kind == Kind::OptionalTensorList))
        continue;
      throw_python(PyExc_TypeError, "expected Tensor as element %zd in argument %zu, but got %s", k,
                   i, type_name(item));
    }

    if (parameter_accepts(*parameter, value)) continue;
    if (given[i].keyword == nullptr && is_varargs(parameters) && is_int(value)) continue;

    const std::string place =
        given[i].keyword != nullptr ? "" : " (position " + std::to_string(i + 1) + ")";
    const bool is_element = is_sequence(value) && parameter->kind == Kind::IntList;
    throw_python(PyExc_TypeError,
                 is_element
                     ? "%s(): argument '%s'%s must be %s, but found element of type %s at pos 0"
                     : "%s(): argument '%s'%s must be %s, not %s",
                 call.function.name, parameter->name, place.c_str(), kind_name(parameter->kind),
                 type_name(is_element ? sequence_item(value, 0) : value));
  }
}

/// A keyword that names nothing, or the same parameter as an earlier argument.
void check_keywords(const WrongCall& call, const std::vector<const Parameter*>& parameters,
                    const std::vector<Given>& given) {
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i].keyword == nullptr) continue;

    const Parameter* parameter = parameter_of(parameters, given[i], i);
    if (parameter == nullptr) {
      throw_python(PyExc_TypeError, "%s() got an unexpected keyword argument '%s'",
                   call.function.name, given[i].keyword);
    }

    for (size_t k = 0; k < i; ++k) {
      if (parameter_of(parameters, given[k], k) == parameter) {
        throw_python(PyExc_TypeError, "%s() got multiple values for argument '%s'",
                     call.function.name, parameter->name);
      }
    }
  }
}

/// A parameter without a default that nothing was given for.
void check_missing(const WrongCall& call, const std::vector<const Parameter*>& parameters,
                   const std::vector<Given>& given) {
  Missing missing;
  for (const Parameter* parameter : parameters) {
    bool found = parameter->has(kOptional);
    for (size_t i = 0; i < given.size(); ++i)
      found = found || parameter_of(parameters, given[i], i) == parameter;
    if (found) continue;
    missing.names += std::string(missing.count++ ? ", " : "") + "\"" + parameter->name + "\"";
  }
  if (missing.count == 0) return;

  throw_python(PyExc_TypeError, "%s() missing %d required positional arguments: %s",
               call.function.name, missing.count, missing.names.c_str());
}

/// Throws the reason why this one signature does not accept the call; returns if it finds none.
void explain(const WrongCall& call, const Signature& signature, const std::vector<Given>& given) {
  const auto parameters = visible_parameters(signature);
  check_count(call, parameters);
  check_missing(call, parameters, given);
  check_types(call, parameters, given);
  check_keywords(call, parameters, given);
}

/// Whether the number of arguments fits the signature.
bool is_plausible(const Signature& signature, size_t count) {
  const auto parameters = visible_parameters(signature);
  size_t least = 0;
  for (const Parameter* parameter : parameters) least += !parameter->has(kOptional);
  return count >= least && (count <= parameters.size() || is_varargs(parameters));
}

/// The line under a signature whose number of parameters fits: which keywords or types are wrong.
std::string mismatch_text(const Signature& signature, const std::vector<Given>& given) {
  const auto parameters = visible_parameters(signature);
  size_t expected = parameters.size();
  for (const Parameter* parameter : parameters) expected -= parameter->has(kOutput);
  if (given.size() != expected) return "";
  std::string types;
  std::string keywords;
  for (size_t i = 0; i < given.size(); ++i) {
    const Parameter* parameter = parameter_of(parameters, given[i], i);
    if (parameter == nullptr) {
      if (given[i].keyword != nullptr)
        keywords += std::string(keywords.empty() ? "" : ", ") + given[i].keyword;
      continue;
    }

    const bool fits = parameter_accepts(*parameter, given[i].value);
    types += std::string(types.empty() ? "" : ", ") +
             (given[i].keyword ? std::string(given[i].keyword) + "=" : "");
    types += fits ? given_type(given[i].value) : "!" + given_type(given[i].value) + "!";
  }

  if (!keywords.empty())
    return "\n      didn't match because some of the keywords were incorrect: " + keywords;
  return "\n      didn't match because some of the arguments have invalid types: (" + types + ")";
}

}  // namespace

const char* kind_name(Kind kind) {
  // PyTorch's names.
  switch (kind) {
    case Kind::Tensor:
    case Kind::TensorOrNumber: return "Tensor";
    case Kind::TensorList:
    case Kind::OptionalTensorList: return "tuple of Tensors";
    case Kind::Scalar: return "Number";
    case Kind::ScalarList: return "tuple of Scalars";
    case Kind::Int: return "int";
    case Kind::IntList: return "tuple of ints";
    case Kind::Float: return "float";
    case Kind::FloatList: return "tuple of floats";
    case Kind::Bool: return "bool";
    case Kind::BoolList: return "tuple of bools";
    case Kind::ScalarType: return "torch.dtype";
    case Kind::Layout: return "torch.layout";
    case Kind::Device: return "torch.device";
    case Kind::MemoryFormat: return "torch.memory_format";
    case Kind::Generator: return "torch.Generator";
    case Kind::String: return "str";
    case Kind::Any: break;
  }
  return "object";
}

bool keyword_matches(const char* keyword, const char* parameter) {
  if (std::strcmp(keyword, parameter) == 0) return true;
  static constexpr const char* aliases[][2] = {{"axis", "dim"}, {"keepdims", "keepdim"},
                                               {"x", "input"},  {"a", "input"},
                                               {"x1", "input"}, {"x2", "other"}};
  for (const auto& [alias, name] : aliases) {
    if (std::strcmp(keyword, alias) == 0 && std::strcmp(parameter, name) == 0) return true;
  }
  return false;
}

void throw_call_error(const WrongCall& call) {
  const std::vector<Given> given = given_arguments(call);
  const Function& function = call.function;
  const int count = function.count - function.deprecated;

  // With one candidate, say what is wrong with the call.
  const Signature* only = nullptr;
  int plausible = 0;
  for (int s = 0; s < count; ++s) {
    if (!is_plausible(function.signatures[s], given.size())) continue;
    only = &function.signatures[s];
    ++plausible;
  }
  if (count == 1) only = &function.signatures[0];
  if (count == 1 || plausible == 1) explain(call, *only, given);

  // Otherwise list what was given and what would be accepted.
  std::string text =
      std::string(function.name) + "() received an invalid combination of arguments - got (";
  for (size_t i = 0; i < given.size(); ++i) {
    text += std::string(i ? ", " : "") +
            (given[i].keyword ? std::string(given[i].keyword) + "=" : "") +
            given_type(given[i].value);
  }
  text += count == 1 ? "), but expected " : "), but expected one of:\n";
  for (int s = 0; s < count; ++s) {
    const Signature& signature = function.signatures[s];
    if (count == 1) {
      text += signature_text(signature);
    } else {
      text += " * " + signature_text(signature) + mismatch_text(signature, given) + "\n";
    }
  }
  throw_python(PyExc_TypeError, "%s", text.c_str());
}

}  // namespace torch::python

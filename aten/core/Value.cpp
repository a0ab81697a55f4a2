// What values of boxed calls need out of line.
#include "aten/core/Value.h"

namespace at {

ForeignObject::~ForeignObject() = default;

}  // namespace at

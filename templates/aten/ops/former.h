// {{ banner }}
// A former name of what this header declares.
#pragma once
#include "{{ header }}"

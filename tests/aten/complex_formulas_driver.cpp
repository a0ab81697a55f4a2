// Values of c10::formulas and of the C library: `driver FUNCTION POINTS VALUES`.
#include <complex>
#include <cstdio>
#include <map>
#include <string>

#include "c10/util/complex_formulas.h"

namespace {

using Ours = c10::complex<double> (*)(c10::complex<double>);
using Theirs = std::complex<double> (*)(const std::complex<double>&);

struct Pair {
  Ours ours;
  Theirs theirs;
};

#define PAIR(NAME)                                                                    \
  {                                                                                   \
    #NAME, {                                                                          \
      c10::formulas::NAME, [](const std::complex<double>& z) { return std::NAME(z); } \
    }                                                                                 \
  }

const std::map<std::string, Pair> kFunctions = {
    PAIR(exp), PAIR(log),  PAIR(sqrt), PAIR(sinh), PAIR(cosh),  PAIR(tanh),  PAIR(sin),  PAIR(cos),
    PAIR(tan), PAIR(asin), PAIR(acos), PAIR(atan), PAIR(asinh), PAIR(acosh), PAIR(atanh)};

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const Pair& functions = kFunctions.at(arguments[1]);
  std::FILE* points = std::fopen(arguments[2], "rb");
  std::FILE* values = std::fopen(arguments[3], "wb");

  double parts[2];
  while (std::fread(parts, sizeof parts, 1, points) == 1) {
    const c10::complex<double> ours = functions.ours({parts[0], parts[1]});
    const std::complex<double> theirs = functions.theirs({parts[0], parts[1]});
    const double found[4] = {ours.real(), ours.imag(), theirs.real(), theirs.imag()};
    std::fwrite(found, sizeof found, 1, values);
  }

  std::fclose(points);
  std::fclose(values);
}

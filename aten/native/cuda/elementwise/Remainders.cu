// The loops of remainder and fmod.
#include "aten/native/cuda/elementwise/DivisionWithRemainder.cuh"

namespace at::native::cuda {

void take_remainders(const LaunchPlan& plan) { divide<Remainder>(plan); }

void take_fmod(const LaunchPlan& plan) { divide<Fmod>(plan); }

}  // namespace at::native::cuda

// kernels: kernels.s
// finds: race:release-scope
// Packets whose fences are too narrow for the host's copy behind them.
#define FENCED 0
#include "fences.h"

// Stands in for NVIDIA's file of this name: everything is in cuda_cpu.h.
#include "cuda_cpu.h"

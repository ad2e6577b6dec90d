"""How a module is built and run: by LLVM, for other machines, as CUDA on a device or on the CPU."""

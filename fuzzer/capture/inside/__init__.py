"""What runs inside of the captured command, in any Python that has TVM: the standard library, numpy and tvm alone.

The files of `fuzzer/capture/hook` load these by their place, so that no package of passfuzz is on the command's path.
"""

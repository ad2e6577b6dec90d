"""What TVM's releases call differently, one file per release that renamed things.

The rest of passfuzz is written in the names of the newest release. On an older TVM, `generators.tvm_api` lets each file
here add the newer names to TVM's modules and classes, where they are missing; nothing is replaced. The files look at
what is there and never at a version number, so that a build between two releases works too. docs/new-tvm.md says how
the next release is taken in.
"""

"""The process of `passfuzz run`: deals out cases, keeps and confirms findings. Never loads TVM."""

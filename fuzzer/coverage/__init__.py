"""Which basic blocks of TVM's own code are reached, counted on the TVM that is installed."""

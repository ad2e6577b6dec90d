"""Looking at TVM modules without TVM's own visitors: walking, scopes, short texts, digests."""

"""Programs of several processes that leave the common order, and what `verify --lockstep` says of them and costs."""

"""StableHLO to the `hlo` dialect: a table of translations, op by op, and the module around them."""

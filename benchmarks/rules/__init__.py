"""How often each rule is right on real code: findings, and the verdicts of people who read them."""

"""Facts about entities that training has never seen: settings chosen on valid, and what they reach on test."""

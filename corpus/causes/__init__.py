"""What people count: where a failure comes from, by which sightings of one bug are known."""

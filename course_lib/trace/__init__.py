"""What a launch did, statement by statement: recorded, replayed and read."""

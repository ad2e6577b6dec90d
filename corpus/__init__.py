"""What we keep: findings and their signatures, reduction, case folders, repro scripts."""

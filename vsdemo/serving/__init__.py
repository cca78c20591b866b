"""What a public server allows its visitors."""

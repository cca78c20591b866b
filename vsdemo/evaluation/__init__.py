"""What a checkpoint is measured on, and the reports made from the figures."""

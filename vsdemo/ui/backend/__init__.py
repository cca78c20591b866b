"""The page of an app whose answers come from another app."""

"""The list of models: a field in the header, and a panel with what each model is and costs."""

"""Real GPUs and what is predicted of them: measuring, recordings, formulas, a model of waiting, their pictures."""

"""Real GPUs and what is predicted of them: measuring, recordings, formulas, a timing model, their pictures."""

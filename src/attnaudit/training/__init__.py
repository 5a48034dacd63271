"""Training the papers' models and comparing them: experiments, interventions, comparisons."""

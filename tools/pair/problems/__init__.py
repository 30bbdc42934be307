"""Word problems with worked steps, made from a seed.

    from problems.sample import problem
    p = problem(seed=1, split="train", index=0)
    p.question   # "Sam earns $6 per hour. ..."
    p.response   # "On both days Sam works 8 + 7 = 15 hours.\\n...\\nAnswer: 90"

The response is a function of the question: wordings vary in the question only. So what a model is unsure of in a
response is what it does not know, and its entropy is a fair signal to route by.
"""

"""Can a pod be placed: verdicts on top of the deciders, deciders on top of shapes and demands."""

"""Objects of the program, mostly diffusers pipelines: which parts of them are stages, and one such
part run alone."""

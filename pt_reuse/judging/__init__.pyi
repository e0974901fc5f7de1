from .judge import Judge as Judge

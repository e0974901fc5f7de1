from .confusion import estimate_confusion as estimate_confusion
from .confusion import flips as flips
from .judge import Judge as Judge
from .noisy import Noisy as Noisy
from .oracle import Oracle as Oracle

from .simulated import simulate_field as simulate_field

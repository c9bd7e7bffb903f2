"""What people and schedulers ask for: refresh, status, history, explain, verify, drop, rebuild."""

"""What people may configure: options of a view, durations, schedules, the profile.

Take from it: `options.Options`, `schedule`, `model` (from a dbt model to its statement), `profile`.
It checks values and names the way out; it does not know what an option leads to.
"""

"""A run: job → scenes → plan → parts on devices → assembled and published label maps."""

//! What is special to PostgreSQL: several nodes, lost connections, poolers, plans.

"""Events on their way out of the line: from the record to MQTT brokers and PostgreSQL."""

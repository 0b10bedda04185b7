"""Recording being switched on, and the interface while it is off."""

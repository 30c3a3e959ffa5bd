"""What all of `deltaic.spark` stands on: the kind of a session, its settings, its time zone, its JVM, its errors."""

"""What all of `deltaic.spark` builds on: the kind of a session, its settings, its time zone, its JVM, its errors."""

"""The bridge into classic sessions: Java sources that Spark's own compiler takes in, and the Python behind them."""
